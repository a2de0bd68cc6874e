package verify_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mafalda/verify"
)

// verifyAnything changes a manifest at random, as JSON and byte for byte: Verify ends with a report, or with an error in one
// line.
func verifyAnything(t *testing.T, rng *rand.Rand, dir string, at verify.NetworkFiles, text []byte, manifest map[string]any, all []change) {
	const perExport = 8
	const alphabet = "\"{}[],:0123456789eE.-+ nNtTfF\x00\xff"
	for i := range perExport {
		if i%2 == 0 {
			c := all[rng.IntN(len(all))]
			c.apply()
			if c.about != "removed" {
				c.set(extremes[rng.IntN(len(extremes))])
			}
			writeGeneric(t, dir, manifest)
			c.undo()
		} else {
			bytes := slices.Clone(text)
			for range 1 + rng.IntN(3) {
				bytes[rng.IntN(len(bytes))] = alphabet[rng.IntN(len(alphabet))]
			}
			if err := os.WriteFile(filepath.Join(dir, "manifest.json"), bytes, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		verifyEnds(t, dir, at)
	}
}

// verifyEnds fails the test if Verify does not end, and prints the manifest then.
func verifyEnds(t *testing.T, dir string, at verify.NetworkFiles) {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := verified(t, dir, at)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: several lines: %q", filepath.Base(dir), err)
		}
	case <-time.After(time.Minute):
		text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		t.Fatalf("%s: Verify does not end with the manifest\n%s, %v", filepath.Base(dir), text, err)
	}
}

package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mafalda/internal/cli"
)

// extremes are numbers and other values that a manifest may have anywhere.
var extremes = []any{json.Number("0"), json.Number("-1"), json.Number("1e308"), json.Number("5e-324"),
	json.Number("4611686018427387904"),
	json.Number("1048576"), json.Number("1e400"), json.Number("1"), json.Number("2"), json.Number("-1e-9"),
	json.Number("1e17"), "", "x", "exact",
	"lanczos", "cycle:1000", "prefix", "message", "dense", "blt", "banded", "toeplitz", "banded-inverse", "min-sep",
	"patterns", "single", "max", "last",
	true, nil, []any{}, map[string]any{}, []any{json.Number("0"), json.Number("1e300")}}

// Whatever is in a manifest, verify ends soon, without a panic, in one line and with exit code 1 or 2; or 0, if it is
// true.
func TestVerifyAnyManifest(t *testing.T) {
	const perExport = 15
	const alphabet = "\"{}[],:0123456789eE.-+ nNtTfF\x00\xff"
	rng := rand.New(rand.NewPCG(7, 7))
	for dir, f := range smallExports(t) {
		text, manifest := readGeneric(t, dir)
		all := changes("", manifest, nil)
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
				bytes := append([]byte(nil), text...)
				for range 1 + rng.IntN(3) {
					bytes[rng.IntN(len(bytes))] = alphabet[rng.IntN(len(alphabet))]
				}
				if err := os.WriteFile(filepath.Join(dir, "manifest.json"), bytes, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			endsInOneLine(t, dir, f)
		}
	}
}

// endsInOneLine fails the test if verify does anything else, and prints the manifest if it does not end.
func endsInOneLine(t *testing.T, dir string, f cli.ExportNetworkFlags) {
	t.Helper()
	args := []string{"verify", dir}
	if f.Graph != "" {
		args = append(args, "--graph", f.Graph)
	}
	if f.GossipMatrix != "" {
		args = append(args, "--gossip-matrix", f.GossipMatrix)
	}
	type ending struct {
		code int
		errs string
	}
	ended := make(chan ending, 1)
	go func() {
		code, _, errs := mafalda(args...)
		ended <- ending{code, errs}
	}()
	select {
	case e := <-ended:
		if n := strings.Count(e.errs, "\n"); e.code < 0 || e.code > 2 || e.code != 0 && n != 1 {
			t.Errorf("%s: code %d, %q", filepath.Base(dir), e.code, e.errs)
		}
	case <-time.After(time.Minute):
		text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		t.Fatalf("%s: verify does not end with the manifest\n%s, %v", filepath.Base(dir), text, err)
	}
}

package plan

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A checkpoint is what was written, or refused in a line.
func FuzzCheckpoint(f *testing.F) {
	dir := f.TempDir()
	made := filepath.Join(dir, "made")
	c := &checkpoints{path: made, size: 4}
	if err := c.write(checkpoint{Iterations: 3, Numbers: []float64{2, 1, 1, 2}}); err != nil {
		f.Fatal(err)
	}
	text, err := os.ReadFile(made)
	if err != nil {
		f.Fatal(err)
	}
	for _, part := range []string{string(text), string(text[:len(text)-1]), string(text) + "x", "", "{}\n"} {
		f.Add(part)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(dir, strconv.Itoa(os.Getpid()))
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		x, err := (&checkpoints{path: path, size: 4}).read()
		switch {
		case err != nil && (strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path)):
			t.Fatalf("%q: error %q", text, err)
		case err == nil && (len(x.Numbers) != 4 || strings.HasSuffix(text, "x")):
			t.Fatalf("%q: %+v", text, x)
		}
	})
}

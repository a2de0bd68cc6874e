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
	c := &checkpoints{path: made, shape: []int{2, 2}}
	if err := c.write(checkpointHeader{Iterations: 3}, []float64{2, 1, 1, 2}); err != nil {
		f.Fatal(err)
	}
	text, err := os.ReadFile(made)
	if err != nil {
		f.Fatal(err)
	}
	for _, part := range []string{string(text), string(text[:len(text)-1]), string(text) + "x", "", "{}\n",
		`{"sha256":"00"}` + "\n",
		strings.Replace(string(text), `"iterations":3`, `"iterations":-3`, 1)} {
		f.Add(part)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(dir, strconv.Itoa(os.Getpid()))
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		x, header, err := (&checkpoints{path: path, shape: []int{2, 2}}).read()
		switch {
		case err != nil && (strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path)):
			t.Fatalf("%q: error %q", text, err)
		case err == nil && (len(x) != 4 || header.Iterations < 0 || header.Round < 0 || header.Mu < 0 ||
			strings.HasSuffix(text, "x")):
			t.Fatalf("%q: %d iterations, %v", text, header.Iterations, x)
		}
	})
}

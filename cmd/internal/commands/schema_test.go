package commands

import (
	"os"
	"path/filepath"
	"testing"
)

// Every schema is optimized, exported and verified; the loss is never below the bound, and bounds are what they are said to
// be: min-sep has the patterns of cyclic participation and more.
func TestSchemas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	patterns := filepath.Join(dir, "patterns.txt")
	if err := os.WriteFile(patterns, []byte("0 1 2 3 4 5 6 7 8 9\n8 9 10 11 12 13 14\n15 16 17 18 19, 20 21 22 23\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	losses := map[string]float64{}
	for name, tc := range map[string]struct {
		args []string
		k, b int
	}{
		"cyclic":   {[]string{"-k", "4"}, 4, 6},
		"longer":   {[]string{"-k", "2", "-b", "6"}, 2, 6},
		"uneven":   {[]string{"-b", "7"}, 4, 7},
		"min-sep":  {[]string{"--schema", "min-sep", "-k", "4"}, 4, 6},
		"fewer":    {[]string{"--schema", "min-sep", "-k", "2", "-b", "6"}, 2, 6},
		"dense":    {[]string{"--schema", "min-sep", "-k", "4", "--strategy", "dense"}, 4, 6},
		"blt":      {[]string{"--schema", "min-sep", "-k", "4", "--strategy", "blt", "--strategy", "buffers=2"}, 4, 6},
		"single":   {[]string{"--schema", "single"}, 1, 24},
		"patterns": {[]string{"--schema", patterns}, 10, 1},
		"banded":   {[]string{"--schema", patterns, "--strategy", "banded", "--strategy", "bandwidth=2"}, 10, 1},
	} {
		out := filepath.Join(dir, name)
		m := optimizeJSON(t, append([]string{"--graph", "florentine", "--T", "24", "-o", out}, tc.args...)...)
		if m.Participation.K != tc.k || m.Participation.B != tc.b || m.SensSquared > 1 || m.SensSquared < 1-1e-11 || m.LowerBound > m.Loss {
			t.Errorf("%s: %+v, sens² %v, loss %v, bound %v", name, m.Participation, m.SensSquared, m.Loss, m.LowerBound)
		}
		if code, report, errs := mafalda("verify", out); code != 0 {
			t.Errorf("%s: verify: code %d\n%s%s", name, code, report, errs)
		}
		losses[name] = m.Loss
	}
	for _, order := range [][2]string{{"single", "longer"}, {"longer", "cyclic"}, {"cyclic", "min-sep"}, {"fewer", "min-sep"}, {"longer", "fewer"}} {
		if losses[order[0]] > losses[order[1]]*(1+1e-5) {
			t.Errorf("%s has the loss %v, %s, which asks for more, %v", order[0], losses[order[0]], order[1], losses[order[1]])
		}
	}
}

package commands

import (
	"path/filepath"
	"strings"
	"testing"

	"mafalda/export"
)

// More steps than matrices have room for: exported, verified and drawn from like any other strategy.
func TestLongRun(t *testing.T) {
	t.Parallel()
	dir, steps := filepath.Join(t.TempDir(), "out"), "4200" // more than 4096 are long
	args := []string{"--graph", "cycle:5", "--gossip", "metropolis", "--T", steps, "-k", "3", "--mu", "1"}
	m := optimizeJSON(t, append(args, "--strategy", "blt", "--strategy", "buffers=2", "-o", dir)...)
	if !(m.Gap > 0 && m.Gap < 0.3) || m.Gram.Method != "exact" || m.SensSquared > 1 || m.Baselines["dp-d-sgd"].SensSquared < 3 || m.Loss >= m.Baselines["dp-d-sgd"].Loss {
		t.Errorf("%+v", m)
	}
	if code, out, errs := mafalda("verify", dir); code != 0 || strings.Count(out, "ok  ") < 6 || !strings.Contains(out, "loss") {
		t.Errorf("verify: code %d, %s%s", code, out, errs)
	}
	if code, _, errs := mafalda("noise", dir, "--node", "0", "--dim", "2", "--seed", "1", "--steps", "5", "-o", filepath.Join(t.TempDir(), "n.npy")); code != 0 {
		t.Errorf("noise: code %d, %s", code, errs)
	}
	if code, _, errs := mafalda("plot", dir, "-o", t.TempDir()); code != 2 || !strings.Contains(errs, "at most 4096") {
		t.Errorf("plot: code %d, %s", code, errs)
	}
	combed := filepath.Join(t.TempDir(), "comb")
	estimated := optimizeJSON(t, append(args, "--strategy", "comb", "--strategy", "buffers=1", "--strategy", "scale-columns", "--gram",
		"lanczos", "--no-baselines", "-o", combed)...)
	if code, out, errs := mafalda("verify", combed); code != 0 || len(estimated.Strategy.Columns) != 3 {
		t.Errorf("verify: code %d, %s%s", code, out, errs)
	}
	if uneven := optimizeJSON(t, "--graph", "florentine", "--T", steps, "-k", "20", "--strategy", "toeplitz",
		"--strategy", "bandwidth=3", "--no-baselines"); uneven.Gram.Method != "exact" {
		t.Errorf("uniform gossip of 15 nodes: %+v", uneven.Gram)
	}
	code, out, _ := mafalda("optimize", "--graph", "cycle:5", "--T", steps, "-k", "3", "--strategy", "toeplitz", "--strategy", "bandwidth=2",
		"--no-baselines", "--average-last", "10")
	if code != 0 || !strings.Contains(out, "none is known for more than 4096 steps, some of which count more than others") {
		t.Errorf("errors of the last ten steps: code %d, %s", code, out)
	}
	code, out, _ = mafalda("optimize", "--graph", "barabasi:200,2", "--seed", "1", "--T", steps, "-k", "3", "--strategy", "toeplitz",
		"--strategy", "bandwidth=2", "--no-baselines", "--gram", "lanczos", "--gram", "probes=4", "--gram", "steps=2")
	if code != 0 || !strings.Contains(out, "or by an estimate this far off") {
		t.Errorf("an indefinite estimate: code %d, %s", code, out)
	}
	if estimated.LowerBoundOf != export.OfEstimate || m.LowerBoundOf != "" {
		t.Errorf("lower bounds of %q and, exactly, of %q", estimated.LowerBoundOf, m.LowerBoundOf)
	}
	if estimated.Gram.LossError == nil || *estimated.Gram.LossError > 0.5 || estimated.Gram.ExcessBound != nil {
		t.Errorf("%+v", estimated.Gram)
	}
	if prefix := optimizeJSON(t, "--workload", "prefix", "--T", steps, "-k", "3", "--strategy", "banded-inverse", "--strategy", "bandwidth=3", "--no-baselines"); prefix.Loss <= 0 {
		t.Errorf("%+v", prefix)
	}
	directed := writeFile(t, "directed.edges", "a b\nb c\nc a\na c\n")
	for name, tc := range map[string]struct {
		args []string
		say  string
	}{
		"persons":    {[]string{"-k", "3", "--strategy", "blt", "--unit", "person"}, "is not for participation that is not cyclic (people)"},
		"min-sep":    {[]string{"--schema", "min-sep", "-b", "2000", "--strategy", "blt"}, "is not for participation that is not cyclic (min-sep)"},
		"worst step": {[]string{"-k", "3", "--strategy", "blt", "--objective", "max"}, "--objective max is not for a run of more than 4096 steps"},
		"too long":   {[]string{"--T", "2000000", "-k", "4", "--strategy", "blt"}, "at most 1048576"},
		"start":      {[]string{"-k", "3", "--strategy", "blt", "--start", dir}, "is not for a run of more than 4096 steps"},
		"scales": {[]string{"-k", "3", "--strategy", "toeplitz", "--strategy", "scale-columns"},
			"--strategy scale-columns is for --strategy comb"},
		"exact, large": {[]string{"-k", "3", "--strategy", "blt", "--graph", "star:2049", "--gossip", "uniform", "--gram",
			"exact"}, "use --gram lanczos"},
		"directed": {[]string{"-k", "3", "--strategy", "blt", "--graph", "directed:" + directed},
			"only gossip matrices in detailed balance"},
	} {
		code, _, errs := mafalda(dropGraph(append([]string{"optimize", "--graph", "cycle:5", "--T", steps}, tc.args...))...)
		if code == 0 || !strings.Contains(errs, tc.say) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: code %d, %s", name, code, errs)
		}
	}
}

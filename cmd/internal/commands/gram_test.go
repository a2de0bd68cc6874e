package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mafalda/export"
)

// An estimated Gram matrix says how far off it may be; the strategy it leads to is that near the true optimum; verify makes
// the estimate again.
func TestEstimatedGram(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	args := []string{"--graph", "barabasi:400,3", "--seed", "3", "--T", "48", "-k", "4", "--no-baselines"}
	exact := optimizeJSON(t, args...)
	m := optimizeJSON(t, append(args, "--gram", "lanczos", "--gram", "probes=40", "-o", dir)...)
	if exact.Gram.Method != "exact" || exact.Gram.ExcessBound != nil || m.Gram.Method != "lanczos" || m.Gram.Probes != 40 || m.Gram.LanczosSteps != 40 {
		t.Fatalf("%+v, %+v", exact.Gram, m.Gram)
	}
	if m.LowerBoundOf != export.OfEstimate || exact.LowerBoundOf != "" {
		t.Errorf("lower bounds of %q and, exactly, of %q", m.LowerBoundOf, exact.LowerBoundOf)
	}
	if m.Gram.Confidence != 0.99 {
		t.Errorf("a confidence of %v", m.Gram.Confidence)
	}
	if e := *m.Gram.LossError; e > 0.1 || !near(m.Loss, exact.Loss, e) {
		t.Errorf("loss %v, estimated %v within %v", exact.Loss, m.Loss, e)
	}
	if code, out, errs := mafalda("verify", dir); code != 0 || !strings.Contains(out, "estimate") {
		t.Errorf("verify: code %d, %s%s", code, out, errs)
	}
	// What is claimed of the excess, on the exact Gram matrix.
	manifest := filepath.Join(dir, "manifest.json")
	text, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	start := optimizeJSON(t, append(args, "--start", dir, "--tolerance", "10")...) // the given start, if it is better than a guess
	if excess := start.Loss/exact.LowerBound - 1; excess > *m.Gram.ExcessBound || excess < 0 {
		t.Errorf("excess %v, bound %v", excess, *m.Gram.ExcessBound)
	}
	for key, value := range map[string]float64{
		"excess_bound": *m.Gram.ExcessBound / 2, "loss_error": *m.Gram.LossError / 2, "confidence": 0.5,
	} {
		gram := fields["gram"].(map[string]any)
		before := gram[key]
		gram[key] = value
		if text, err = json.Marshal(fields); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(manifest, text, 0o666); err != nil {
			t.Fatal(err)
		}
		if code, out, _ := mafalda("verify", dir); code != 1 || !strings.Contains(out, "FAILED  estimate") {
			t.Errorf("%s: code %d, %s", key, code, out)
		}
		gram[key] = before
	}
}

// As many vectors as nodes leave nothing to chance, and say so; so do few nodes.
func TestEstimateFromUnitVectors(t *testing.T) {
	args := []string{"--graph", "florentine", "--T", "24", "-k", "4", "--no-baselines"}
	exact := optimizeJSON(t, args...)
	dir := filepath.Join(t.TempDir(), "out")
	args = append(args, "--gram", "lanczos")
	m := optimizeJSON(t, append(args, "-o", dir)...)
	if g := m.Gram; g.Confidence != 1 || g.Probes != 15 || *g.LossError > 1e-3 ||
		!near(m.Loss, exact.Loss, *g.LossError) {
		t.Errorf("loss %v, exactly %v, %+v, error %v", m.Loss, exact.Loss, g, *g.LossError)
	}
	if code, out, errs := mafalda("verify", dir); code != 0 {
		t.Errorf("verify: code %d, %s%s", code, out, errs)
	}
	code, out, _ := mafalda(append([]string{"optimize"}, args...)...)
	if code != 0 || !strings.Contains(out, "15 unit vectors, 40 steps each: nothing is left to chance, the loss is known") ||
		strings.Count(out, "for the estimated Gram matrix") != 2 { // bound and gap
		t.Errorf("code %d, %s", code, out)
	}
	code, out, _ = mafalda("optimize", "--graph", "star:140", "--T", "24", "-k", "4", "--no-baselines", "--gram", "lanczos",
		"--gram", "probes=8")
	if code != 0 || !strings.Contains(out, "8 random vectors, 40 steps each: with a probability of 99 % the loss is known") {
		t.Errorf("code %d, %s", code, out)
	}
}

// Only the dense optimum is near the optimum because its Gram matrix is nearly right: of other strategies the loss alone is judged.
func TestEstimateOfOtherStrategies(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	m := optimizeJSON(t, "--graph", "barabasi:300,3", "--T", "48", "-k", "4", "--no-baselines", "--gram", "lanczos", "--strategy", "banded-inverse", "--strategy", "bandwidth=3", "-o", dir)
	if m.Gram.ExcessBound != nil || m.Gram.LossError == nil || m.Gap < 0.01 {
		t.Errorf("gap %v, %+v", m.Gap, m.Gram)
	}
	if code, out, errs := mafalda("verify", dir); code != 0 || !strings.Contains(out, "estimate") {
		t.Errorf("verify: code %d, %s%s", code, out, errs)
	}
}

func TestGramRefusals(t *testing.T) {
	directed := writeFile(t, "directed.edges", "a b\nb c\nc a\na c\n")
	for name, tc := range map[string]struct {
		args []string
		say  string
	}{
		"unknown":         {[]string{"--graph", "florentine", "--gram", "guess"}, "choose auto, exact, lanczos or sampled"},
		"one probe":       {[]string{"--graph", "florentine", "--gram", "lanczos", "--gram", "probes=1"}, "at least 4 random vectors"},
		"too many probes": {[]string{"--graph", "florentine", "--gram", "lanczos", "--gram", "probes=2000000"}, "at most 1048576"},
		"three probes":    {[]string{"--graph", "star:300", "--gram", "lanczos", "--gram", "probes=3"}, "at least 4 random vectors"},
		"probes of exact": {[]string{"--graph", "florentine", "--gram", "exact", "--gram", "probes=3"}, "are for --gram lanczos"},
		"directed":        {[]string{"--graph", "directed:" + directed, "--gram", "lanczos"}, "detailed balance"},
		"per node":        {[]string{"--graph", "florentine", "--gram", "lanczos", "--strategy", "per-node"}, "single nodes"},
		"worst step":      {[]string{"--graph", "florentine", "--gram", "lanczos", "--objective", "max"}, "--objective mean"},
		"prefix":          {[]string{"--workload", "prefix", "--gram", "lanczos"}, "is not for --gram lanczos"},
	} {
		code, _, errs := mafalda(append([]string{"optimize", "--T", "12", "-k", "3"}, tc.args...)...)
		if code != 2 || !strings.Contains(errs, tc.say) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: code %d, %s", name, code, errs)
		}
	}
}

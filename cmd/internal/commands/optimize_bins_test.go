package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mafalda/cmd/internal/results"
	"mafalda/export"
	"mafalda/simulate"
)

var inBins = []string{"--graph", "florentine", "--T", "8", "-k", "4", "--sampling", "bins", "--epsilon", "2", "--delta",
	"1e-5"}

// Keys that scripts rely on, and what belongs together; what others do with the export. Two bins take no samples.
func TestOptimizeBins(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	m := optimizeJSON(t, append(inBins, "--sampling", "samples=4096", "--sampling", "failure=1e-6", "--clip", "3", "--seed", "5", "-o",
		dir)...)
	s, p := m.Sampling, m.Privacy
	if s == nil || s.Scheme != "bins" || s.Groups != 2 || s.Probability != 1 || s.Rounds != 4 || *s.Epsilon != 2 ||
		s.EpsilonLower != nil || s.Delta != 1e-5 || s.Failure != 0 || s.Samples != 0 || s.Seed != nil ||
		s.ConfirmedDelta > 1e-5 || m.Baselines != nil || !near(m.Gap, m.ErrorAtPrivacy/s.LowerBound-1, 1e-12) ||
		m.Strategy.ClassBound != 0 {
		t.Fatalf("%+v", s)
	}
	if p.Mu != 0 || *p.Epsilon != 2 || !near(p.NoiseStd, 3*s.NoiseMultiplier, 1e-15) ||
		!near(m.ErrorAtPrivacy, s.NoiseMultiplier*s.NoiseMultiplier*m.SquaredError, 1e-14) ||
		m.ErrorAtPrivacy > m.CyclicErrorAtPrivacy {
		t.Errorf("%+v, error at privacy %v", p, m.ErrorAtPrivacy)
	}
	var names []string
	for _, c := range s.Candidates {
		names = append(names, c.OptimizedFor)
	}
	if strings.Join(names, " ") != "cyclic cyclic cyclic bins" || s.Candidates[2].Bandwidth != 8 {
		t.Errorf("%+v", s.Candidates)
	}
	cyclic := optimizeJSON(t, "--graph", "florentine", "--T", "8", "-k", "4", "--epsilon", "2", "--delta", "1e-5")
	if !near(cyclic.ErrorAtPrivacy, m.CyclicErrorAtPrivacy, 2e-6) || !near(cyclic.LowerBound, m.LowerBound, 2e-6) {
		t.Errorf("in turn: %v and %v", cyclic.ErrorAtPrivacy, m.CyclicErrorAtPrivacy)
	}
	useBins(t, dir, m)

	var text bytes.Buffer
	s.Samples, s.Failure, s.Seed = 4096, 1.24e-6, new(uint64)
	if err := results.ExportDocument(&m, nil, "").Text(&text); err != nil || !strings.Contains(text.String(), "a chance of 1.3e-06 (") {
		t.Errorf("the chance that samples mislead, rounded up: %v\n%s", err, &text)
	}
}

// simulateRows runs a simulation with --json and returns its rows.
func simulateRows(t *testing.T, args ...string) []simulate.Row {
	t.Helper()
	code, out, errs := mafalda(args...)
	var got struct{ Rows []simulate.Row }
	if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil {
		t.Fatalf("code %d, %v\n%s%s", code, err, out, errs)
	}
	return got.Rows
}

// noiseOfUnconfirmedBins asks for rows of an export whose noise is a little less everywhere it is written: samples say
// another δ than the manifest.
func noiseOfUnconfirmedBins(t *testing.T, dir string, m export.Manifest) {
	t.Helper()
	other := t.TempDir()
	if err := os.CopyFS(other, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(other, export.ManifestName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, p := *m.Sampling, *m.Privacy
	less := s.NoiseMultiplier * 0.999
	for from, to := range map[float64]float64{s.NoiseMultiplier: less, p.NoiseStd: less * p.Clip} {
		text = bytes.ReplaceAll(text, fmt.Appendf(nil, " %v", from), fmt.Appendf(nil, " %v", to))
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(t.TempDir(), "state")
	for _, from := range [][]string{{"--seed", "1"}, {"--state", state, "--new"}} {
		code, out, errs := mafalda(append([]string{"noise", other, "--node", "Medici", "--dim", "2"}, from...)...)
		if code == 0 || out != "" || !strings.Contains(errs, "delta is at most") {
			t.Errorf("noise %v: code %d, %q, %s", from, code, out, errs)
		}
	}
	if _, err := os.Stat(state); err == nil {
		t.Error("a state was begun")
	}
}

// useBins holds what others do with an export for bins: not what they cannot stand for.
func useBins(t *testing.T, dir string, m export.Manifest) {
	t.Helper()
	if code, out, errs := mafalda("verify", dir); code != 0 || !strings.Contains(out, "ok      sampling     2 bins") ||
		!strings.Contains(out, "for epsilon = 2, without samples") {
		t.Errorf("verify: code %d\n%s%s", code, out, errs)
	}
	audit := []string{"audit", "--sampling", "bins", "--export", dir, "--runs", "10000"}
	if code, out, errs := mafalda(audit...); code != 0 || !strings.Contains(out, "epsilon = 2 at") {
		t.Errorf("audit: code %d\n%s%s", code, out, errs)
	}
	if code, _, _ := mafalda(append(audit, "--noise-scale", "0.5")...); code == 0 {
		t.Error("half the noise passes an audit")
	}
	if code, _, errs := mafalda("noise", dir, "--node", "Medici", "--dim", "2", "--seed", "1"); code != 0 {
		t.Errorf("noise: code %d, %s", code, errs)
	}
	noiseOfUnconfirmedBins(t, dir, m)
	if code, out, errs := mafalda("plot", dir, "-o", t.TempDir()); code != 0 || strings.Contains(out, "sampling.png") {
		t.Errorf("plot: code %d, %s", code, errs)
	}
	simulated := []string{"simulate", "--T", "8", "-k", "4", "--methods", dir, "--sampling", "bins", "--delta", "1e-5",
		"--seeds", "1", "--task", "records=100", "--json", "--epsilon"}
	rows := simulateRows(t, append(simulated, "2,1")...)
	if *rows[1].Epsilon != 2 || rows[1].Groups != 2 || !near(rows[1].Multiplier, m.Sampling.NoiseMultiplier, 1e-12) {
		t.Errorf("simulate: %+v, want the noise multiplier %v", rows[1], m.Sampling.NoiseMultiplier)
	}
	if *rows[0].Epsilon != 1 || rows[0].Multiplier < 1.5*m.Sampling.NoiseMultiplier {
		t.Errorf("simulate: %+v", rows[0])
	}
	for name, args := range map[string][]string{
		"poisson": {"simulate", "--T", "8", "-k", "4", "--methods", dir, "--sampling", "poisson", "--epsilon", "2"},
		"in turn": {"simulate", "--T", "8", "-k", "4", "--methods", dir, "--mu", "1"},
	} {
		if code, _, errs := mafalda(args...); code != 2 || strings.Count(errs, "\n") != 1 {
			t.Errorf("simulate %s: code %d, %s", name, code, errs)
		}
	}
}

// A strategy with negative entries has no claim for bins, and no batches.
func TestBinsRefuseNegativeEntries(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, "--graph", "florentine", "--T", "60", "-k", "10", "-o", dir)
	code, _, errs := mafalda("simulate", "--T", "60", "-k", "10", "--methods", dir, "--sampling", "bins", "--epsilon", "2")
	if code != 2 || !strings.Contains(errs, "negative entry") || strings.Count(errs, "\n") != 1 {
		t.Errorf("code %d, %s", code, errs)
	}
}

package commands

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mafalda/threat"
)

// Account and audit take the noise of an export that was calibrated: against everybody ε is what the export promises,
// to rounding, and never below it; a noise level that is given goes before it.
func TestNoiseLevelOfAnExport(t *testing.T) {
	for name, flags := range map[string][]string{
		"zero-out":    {"--clip", "3"},
		"replace-one": {"--clip", "0.7", "--adjacency", "replace-one"},
		"per node":    {"--strategy", "per-node"},
		"parameters":  {"--strategy", "banded", "--strategy", "bandwidth=3", "--format", "parameters-only"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			optimizeJSON(t, append([]string{"--graph", "florentine", "--T", "12", "-k", "3", "--no-baselines", "--epsilon", "2", "--delta", "1e-6",
				"-o", dir}, flags...)...)
			run := []string{"--T", "12", "-k", "3", "--algorithm", "mf-d-sgd", "--export", dir, "--delta", "1e-6"}
			public := accountJSON(t, append([]string{"--trust", "ldp"}, run...)...)
			most := 0.0
			for _, p := range public.Pairs {
				most = math.Max(most, *p.Epsilon)
			}
			if most < 2*(1-1e-6) || most > 2*(1+1e-6) {
				t.Errorf("epsilon against everybody is %v, the export promises 2", most)
			}
			given := accountJSON(t, append([]string{"--trust", "ldp", "--sigma", "1"}, run...)...)
			if math.Abs(*pairOf(t, given, "Medici").Mu-1) > 1e-4 {
				t.Errorf("with --sigma 1: %+v", given.Pairs[0])
			}
			table := append([]string{"account", "--graph", "florentine", "--attacker", "Pazzi"}, run...)
			if code, out, errs := mafalda(table...); code != 0 || !strings.Contains(out, ", from "+dir) {
				t.Errorf("code %d, %s%s", code, out, errs)
			}
		})
	}
}

// Where nodes share noise, its level counts what coalitions leave: they learn what the export promises, at most.
func TestNoiseLevelOfSharedNoise(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, "--graph", "florentine", "--T", "8", "-k", "2", "--no-baselines", "--trust", "secldp", "--epsilon", "2", "--delta", "1e-6",
		"--clip", "3", "-o", dir)
	a := accountJSON(t, "--trust", "secldp", "--T", "8", "-k", "2", "--algorithm", "mf-d-sgd", "--export", dir, "--delta", "1e-6")
	most := 0.0
	for _, p := range a.Pairs {
		most = math.Max(most, *p.Epsilon)
	}
	if most < 1.9 || most > 2*(1+1e-6) {
		t.Errorf("epsilon against coalitions is %v, the export promises 2", most)
	}
}

// An export that was not calibrated promises nothing, and what is computed for it says so.
func TestNoNoiseLevelOfAnExport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, "--graph", "path:3", "--T", "4", "-k", "2", "--no-baselines", "-o", dir)
	for _, command := range []string{"account", "audit"} {
		code, out, errs := mafalda(command, "--graph", "path:3", "--T", "4", "-k", "2", "--algorithm", "mf-d-sgd", "--export", dir, "--trust", "ldp")
		if code != 0 || !strings.Contains(out, "standard deviation 1,") || !strings.Contains(out, dir+" was not calibrated") {
			t.Errorf("%s: code %d, %s%s", command, code, out, errs)
		}
	}
}

// What an audit claims of a calibrated export is the export's mu.
func TestAuditAtTheNoiseOfAnExport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, "--graph", "florentine", "--T", "8", "-k", "2", "--no-baselines", "--mu", "0.5", "--clip", "2", "-o", dir)
	code, out, errs := mafalda("audit", "--graph", "florentine", "--T", "8", "-k", "2", "--algorithm", "mf-d-sgd", "--export", dir,
		"--trust", "ldp", "--victim", "Medici", "--json")
	var r struct {
		threat.AuditResult
		Sigma float64
		From  string `json:"sigma_from"`
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 {
		t.Fatalf("code %d, %v, %s", code, err, errs)
	}
	if !near(r.Claimed, 0.5, 1e-6) || r.Low > 0.5 || r.High < 0.45 || !near(r.Sigma, 2, 1e-9) || r.From != dir {
		t.Errorf("%+v", r)
	}
}

// A noise level that does not follow from what the export promises is no noise level.
func TestNoiseLevelThatContradictsItself(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	m := optimizeJSON(t, "--graph", "florentine", "--T", "8", "-k", "2", "--no-baselines", "--mu", "0.5", "-o", dir)
	path := filepath.Join(dir, "manifest.json")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	was, _ := json.Marshal(m.Privacy.NoiseStd)
	if err := os.WriteFile(path, []byte(strings.Replace(string(b), `"noise_std": `+string(was), `"noise_std": 20`, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"account"}, {"audit"}} {
		args = append(args, "--graph", "florentine", "--T", "8", "-k", "2", "--algorithm", "mf-d-sgd", "--export", dir, "--attacker", "Pazzi")
		if code, _, errs := mafalda(args...); code != 2 || !strings.Contains(errs, "noise_std is 20") {
			t.Errorf("%v: code %d, %s", args[0], code, errs)
		}
	}
}

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

// Account and audit take the noise of an export that was calibrated: against everybody ε is what the export promises, to
// rounding, and never below it; a noise level that is given goes before it.
func TestNoiseLevelOfAnExport(t *testing.T) {
	for name, flags := range map[string][]string{
		"zero-out":    {"--clip", "3"},
		"replace-one": {"--clip", "0.7", "--adjacency", "replace-one"},
		"per node":    {"--per-node"},
		"parameters":  {"--strategy", "banded", "--bandwidth", "3", "--no-dense"},
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

// Where nodes share noise, its level is that of what coalitions leave: they learn what the export promises, at most.
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

// A command that makes an account of an export again names the noise level, also one that is the default elsewhere.
func TestNoiseLevelIsReproduced(t *testing.T) {
	home := t.TempDir()
	dir, who, page := filepath.Join(home, "out"), filepath.Join(home, "who"), filepath.Join(home, "report.html")
	optimizeJSON(t, "--graph", "path:3", "--T", "4", "-k", "2", "--no-baselines", "--mu", "0.5", "-o", dir)
	for _, args := range [][]string{
		{"account", "--graph", "path:3", "--T", "4", "-k", "2", "--algorithm", "mf-d-sgd", "--export", dir, "--attacker", "0", "--sigma", "1", "-o", who},
		{"report", who, "-o", page},
	} {
		if code, _, errs := mafalda(args...); code != 0 {
			t.Fatalf("%v: code %d, %s", args, code, errs)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), "--sigma 1") {
		t.Errorf("the noise level is not in the command, %v", err)
	}
}

// A command that makes an account again of those who know secrets names them as flags do.
func TestAttackersAreReproduced(t *testing.T) {
	home := t.TempDir()
	dir, pairs, page := filepath.Join(home, "out"), filepath.Join(home, "pairs.csv"), filepath.Join(home, "report.html")
	optimizeJSON(t, "--graph", "path:4", "--T", "4", "-k", "2", "--no-baselines", "--trust", "secldp", "--mu", "0.5", "-o", dir)
	if err := os.WriteFile(pairs, []byte("0,1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	shared := []string{"--algorithm", "mf-d-sgd", "--export", dir}
	for name, tc := range map[string]struct {
		flags     []string
		want, not string
	}{
		"at most one": {shared, "--coalitions 1", "--attacker"},
		"of a file":   {append([]string{"--coalitions", pairs}, shared...), "the coalitions (each of", "--attacker"},
		"nodes":       {append([]string{"--attacker", "1,2"}, shared...), "--attacker 1,2", "--coalitions"},
		"everybody":   {nil, "--trust secldp", "--attacker"},
	} {
		who := filepath.Join(home, name)
		account := append([]string{"account", "--graph", "path:4", "--T", "4", "-k", "2", "--trust", "secldp", "-o", who}, tc.flags...)
		for _, args := range [][]string{account, {"report", who, "-o", page, "--force"}} {
			if code, _, errs := mafalda(args...); code != 0 {
				t.Fatalf("%s, %s: code %d, %s", name, args[0], code, errs)
			}
		}
		text, err := os.ReadFile(page)
		if err != nil || !strings.Contains(string(text), tc.want) || strings.Contains(string(text), tc.not) {
			t.Errorf("%s: the report has no %q, or %q, %v", name, tc.want, tc.not, err)
		}
	}
}

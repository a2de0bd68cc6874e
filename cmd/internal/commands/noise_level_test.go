package commands

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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

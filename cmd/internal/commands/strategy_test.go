package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mafalda/export"
)

// A parameter that is changed no longer makes the exported matrix.
func TestVerifyFindsChangedParameters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	m := optimizeJSON(t, "--graph", "florentine", "--T", "40", "-k", "4", "--strategy", "toeplitz", "--no-baselines", "-o", dir)
	m.Strategy.Coefficients[3] *= 1.001
	m.Files = nil
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var old export.Manifest
	if err := json.Unmarshal(text, &old); err != nil {
		t.Fatal(err)
	}
	old.Strategy = m.Strategy
	if text, err = json.Marshal(old); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := mafalda("verify", dir); code != 1 || !strings.Contains(out, "FAILED  parameters") {
		t.Errorf("code %d\n%s", code, out)
	}
}

// Output that cannot be written is a failure.
func TestLostOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		full, err = os.Open(os.DevNull) // read only: writing fails, too
		if err != nil {
			t.Fatal(err)
		}
	}
	defer full.Close()
	for _, args := range [][]string{{"version"}, {"graph", "cycle:5"}, {"epsilon", "--mu", "1", "--delta", "1e-6"},
		{"optimize", "--graph", "cycle:5", "--T", "4", "-k", "2"}} {
		var errs strings.Builder
		if code := run(t.Context(), args, full, &errs); code != 1 || !strings.Contains(errs.String(), "mafalda: ") {
			t.Errorf("%v: code %d, %s", args, code, errs.String())
		}
	}
}

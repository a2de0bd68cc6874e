package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mafalda/export"
	"mafalda/internal/npy"
)

// Strategies of single nodes and of groups are exported as one array and verified; they gain on the shared one, and more
// of them gain more.
func TestSplits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	last, steps := 0.0, 12
	for _, tc := range []struct {
		name   string
		args   []string
		layers int
	}{{"single", []string{"--strategy per-node"}, 15}, {"groups", []string{"--strategy", "groups=3"}, 3}, {"one", []string{"--strategy", "groups=1"}, 1}} {
		out := filepath.Join(dir, tc.name)
		m := optimizeJSON(t, append([]string{"--graph", "florentine", "--T", strconv.Itoa(steps), "-k", "4", "-o", out}, tc.args...)...)
		if m.Loss < last || m.Loss > m.SharedLoss*(1+1e-6) || m.LowerBound > m.Loss || m.SensSquared > 1 {
			t.Errorf("%s: loss %v after %v, shared %v, bound %v", tc.name, m.Loss, last, m.SharedLoss, m.LowerBound)
		}
		last = m.Loss
		a, err := npy.ReadFile(filepath.Join(out, "C.npy"))
		if err != nil || len(a.Shape) != 3 || a.Shape[0] != tc.layers || a.Shape[2] != steps {
			t.Errorf("%s: C.npy has the shape %v, %v", tc.name, a.Shape, err)
		}
		if code, report, errs := mafalda("verify", out); code != 0 || !strings.Contains(report, "shared loss") {
			t.Errorf("%s: verify: code %d\n%s%s", tc.name, code, report, errs)
		}
		if code, _, errs := mafalda("plot", out, "--node", "14", "-o", filepath.Join(dir, tc.name)+"-figures"); code != 0 {
			t.Errorf("%s: plot: code %d, %s", tc.name, code, errs)
		}
	}
}

// Verify finds nodes that were given each other's strategies, and losses that are not theirs.
func TestVerifyFindsExchangedLayers(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(m *export.Manifest){
		"layers": func(m *export.Manifest) {
			m.PerNode.Layers[0], m.PerNode.Layers[8] = m.PerNode.Layers[8], m.PerNode.Layers[0]
		},
		"losses": func(m *export.Manifest) { m.PerNode.Losses[3] *= 1.01 },
		"shared": func(m *export.Manifest) { m.SharedLoss *= 1.01 },
		"bound":  func(m *export.Manifest) { m.LowerBound *= 1.01; m.Gap = (m.Loss - m.LowerBound) / m.LowerBound },
		"nodes": func(m *export.Manifest) {
			m.PerNode.Layers = m.PerNode.Layers[:14]
			m.PerNode.Losses = m.PerNode.Losses[:14]
		},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		optimizeJSON(t, "--graph", "florentine", "--T", "12", "-k", "4", "--strategy", "per-node", "--no-baselines", "-o", dir)
		path := filepath.Join(dir, "manifest.json")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var m export.Manifest
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		change(&m)
		if text, err = json.Marshal(m); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if code, report, _ := mafalda("verify", dir); code != 1 || !strings.Contains(report, "FAILED") {
			t.Errorf("%s: code %d\n%s", name, code, report)
		}
	}
}

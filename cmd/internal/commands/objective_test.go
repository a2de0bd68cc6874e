package commands

import (
	"path/filepath"
	"strings"
	"testing"
)

// Every objective is best at what it asks for, and its export verifies; the worst step is never better than the last one.
func TestObjectives(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	losses := map[string]float64{}
	for _, name := range []string{"max", "last"} {
		out := filepath.Join(dir, name)
		m := optimizeJSON(t, "--graph", "florentine", "--T", "32", "-k", "4", "--objective", name, "-o", out)
		if m.Objective != name || m.LowerBound > m.Loss || m.Gap > m.Tolerance || m.SensSquared > 1 {
			t.Errorf("%s: %+v", name, m)
		}
		for baseline, b := range m.Baselines {
			if b.Loss < m.LowerBound || m.Loss > b.Loss {
				t.Errorf("%s: loss %v, bound %v, but %s has %v", name, m.Loss, m.LowerBound, baseline, b.Loss)
			}
		}
		if code, report, errs := mafalda("verify", out); code != 0 || !strings.Contains(report, "is proven") {
			t.Errorf("%s: verify: code %d\n%s%s", name, code, report, errs)
		}
		losses[name] = m.Loss
	}
	if losses["last"] > losses["max"] {
		t.Errorf("the last step alone costs %v, the worst step %v", losses["last"], losses["max"])
	}
}

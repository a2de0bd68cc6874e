package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestClassBoundIsOneWherePatternsOverlap: class_bound was the certificate of the search, within orthogonal columns
// and periodic norms: 820.5875, although strategies with as many bands reach 815.4. It holds for all of these now;
// dense has none, because lower_bound is one. The lower bound, formerly 786.06, is proven again by verify, and a
// larger one is not.
func TestClassBoundIsOneWherePatternsOverlap(t *testing.T) {
	t.Parallel()
	for class, loss := range map[string]float64{"banded": 815.5, "dense": 798.9} {
		dir := filepath.Join(t.TempDir(), "out")
		problem := []string{"--graph", "florentine", "--T", "24", "-k", "3", "-b", "4", "--no-baselines"}
		m := optimizeJSON(t, append(problem, "--strategy", class, "-o", dir)...)
		if m.Loss > loss || m.LowerBound < 797.5 || m.LowerBound > m.Loss {
			t.Errorf("%s: loss %v, bound %v", class, m.Loss, m.LowerBound)
		}
		if s := m.Strategy; class == "dense" != (s.ClassGap == nil) || s.ClassBound > 815.4 ||
			s.ClassGap != nil && *s.ClassGap < 1e-3 {
			t.Errorf("%s: class bound %v", class, s.ClassBound)
		}
		if code, out, errs := mafalda("verify", dir); code != 0 {
			t.Errorf("%s: verify: code %d\n%s%s", class, code, out, errs)
		}
		path := filepath.Join(dir, "manifest.json")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(text), `"lower_bound": 797.`, `"lower_bound": 798.`, 1)
		if err := os.WriteFile(path, []byte(changed), 0o644); err != nil || changed == string(text) {
			t.Fatalf("%s: manifest not changed (%v)", class, err)
		}
		if code, out, errs := mafalda("verify", dir); code == 0 || !strings.Contains(out+errs, "lower bound") {
			t.Errorf("%s: a lower bound that is too large: code %d\n%s%s", class, code, out, errs)
		}
	}
	_, out, _ := mafalda("optimize", "--graph", "florentine", "--T", "24", "-k", "3", "-b", "4", "--strategy", "banded",
		"--no-baselines")
	if !strings.Contains(out, "no banded strategy with 8 bands has a smaller loss (gap 0.0") {
		t.Errorf("class bound in words: %s", out)
	}
}

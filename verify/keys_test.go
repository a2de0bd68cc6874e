package verify

import (
	"math"
	"strings"
	"testing"

	"mafalda/export"
)

// Keys lists the keys of a manifest that are numbers or words, for tests from outside. Those of a spec are one.
func Keys() []string {
	var all []string
	for _, k := range export.Keys() {
		if k.Kind != "object" && k.Kind != "list" && !inside(k.Name, "workload_spec") || k.Name == "workload_spec" || k.Name == "space.pairs[]" {
			all = append(all, k.Name)
		}
	}
	return all
}

// No key of a manifest is forgotten: each has a rule, every rule a key, and a number that is compared is compared
// somewhere.
func TestEveryKeyHasARule(t *testing.T) {
	keys := Keys()
	if len(keys) < 100 {
		t.Fatalf("only %d keys: %v", len(keys), keys)
	}
	used := map[string]bool{}
	for _, key := range keys {
		found := false
		for _, r := range rules() {
			if inside(key, r.key) {
				found, used[r.key] = found || r.how != block, true
			}
		}
		if !found {
			t.Errorf("%s has no rule", key)
		}
	}
	for _, r := range rules() {
		if !used[r.key] {
			t.Errorf("there is no key %s", r.key)
		}
		if r.how != unchecked && r.how != given && r.how != block && r.check == "" {
			t.Errorf("%s is %s by no check", r.key, r.how)
		}
		if (r.how == within) != (r.apart != nil) {
			t.Errorf("%s is compared %s, with a tolerance: %v", r.key, r.how, r.apart != nil)
		}
	}
}

// verificationOf returns a verification of a manifest alone, of which nothing is computed again yet.
func verificationOf(m export.Manifest) *verification {
	return &verification{export: &export.Export{Manifest: &m}, reached: map[string]float64{}}
}

// A number that a rule leaves to a check which is not made fails, by its key.
func TestNumberWithoutItsCheckFails(t *testing.T) {
	gap := 0.5
	m := export.Manifest{Loss: 2, Strategy: export.Strategy{ClassGap: &gap}}
	v := verificationOf(m)
	v.add("loss", true, "")
	v.add("arithmetic", true, "")
	v.skip("squared_error")
	v.everyKey()
	var wrong []string
	for _, c := range v.Failures() {
		wrong = append(wrong, c.Detail)
	}
	text := strings.Join(wrong, "; ")
	if !strings.Contains(text, "strategy.class_gap is checked by nothing") {
		t.Errorf("%q", text)
	}
	for _, key := range []string{"loss", "squared_error", "tolerance", "objective"} {
		if strings.Contains(text, key+" is checked") {
			t.Errorf("%s: %q", key, text)
		}
	}
}

// Each way to compare refuses what it is to refuse, absent numbers and those that are none included, and nothing else.
func TestWaysToCompare(t *testing.T) {
	baseline := func(loss float64) export.Manifest {
		return export.Manifest{Baselines: map[string]export.Baseline{"antipgd": {Loss: loss}}}
	}
	distinct := func(n int) export.Manifest { return export.Manifest{PerNode: &export.PerNode{Distinct: n}} }
	poles := func(re float64) export.Manifest {
		m := export.Manifest{}
		m.Strategy.Theta = [][2]float64{{re, 1e-3}}
		return m
	}
	taps := func(n int) export.Manifest {
		m := export.Manifest{}
		m.Strategy.Coefficients = make([]float64, n)
		return m
	}
	bound := func(b float64) export.Manifest { return export.Manifest{LowerBound: b} }
	none := export.Manifest{}
	for name, tc := range map[string]struct {
		check    string
		says, is export.Manifest
		ok       bool
	}{
		"within":                    {"baselines", baseline(1 + 0.9e-9), baseline(1), true},
		"not within":                {"baselines", baseline(1 + 1.1e-9), baseline(1), false},
		"infinity":                  {"baselines", baseline(1), baseline(math.Inf(1)), false},
		"no number":                 {"baselines", baseline(1), baseline(math.NaN()), false},
		"a baseline that is none":   {"baselines", baseline(1), none, false},
		"a baseline that is left":   {"baselines", none, baseline(1), false},
		"exactly":                   {"groups", distinct(3), distinct(3), true},
		"not exactly":               {"groups", distinct(3), distinct(4), false},
		"nothing computed again":    {"groups", distinct(3), none, false},
		"at most":                   {"lower bound", bound(1), bound(1), true},
		"a bound that is too large": {"lower bound", bound(math.Nextafter(1, 2)), bound(1), false},
		"a bound of nothing":        {"lower bound", bound(1), none, false},
		"no bound":                  {"lower bound", none, bound(1), true},
		"a bound by no number":      {"lower bound", bound(1), bound(math.NaN()), false},
		"the same length":           {"cost", taps(3), taps(3), true},
		"another length":            {"cost", taps(3), taps(2), false},
		"no list":                   {"cost", none, taps(2), false},
		"a pole":                    {"cost", poles(1 + 1e-13), poles(1), true},
		"another pole":              {"cost", poles(1 + 1e-11), poles(1), false},
	} {
		v := verificationOf(tc.says)
		v.again = tc.is
		if got := v.compare(tc.check, ""); got != tc.ok || v.OK() != tc.ok {
			t.Errorf("%s: %v, %+v", name, got, v.Checks)
		}
	}
}

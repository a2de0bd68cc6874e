package verify_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/accounting/bins"
	"mafalda/accounting/sampling"
	"mafalda/export"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/verify"
)

// Numbers of candidates are checked, though not that all are listed; and so is how batches are drawn, without the
// network, too.
func TestVerifySampling(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	x := exported{network: graph.NetworkOptions{Source: "florentine"},
		problem: plan.Problem{Schema: must(participation.NewCyclic(13, 4, 4))},
		options: plan.Options{Sampling: participation.Poisson, NoBaselines: true,
			Privacy: &plan.Privacy{Target: accounting.Target{Epsilon: 12, Delta: 1e-6}}}}
	x.save(t, dir)
	text, _ := readGeneric(t, dir)
	type object = map[string]any
	times := func(of func(m, block object) object, key string, by float64) func(m, block object) {
		return func(m, block object) {
			o := of(m, block)
			o[key] = must(o[key].(json.Number).Float64()) * by
		}
	}
	top := func(m, _ object) object { return m }
	privacy := func(m, _ object) object { return m["privacy"].(object) }
	sampling := func(_, block object) object { return block }
	candidate := func(_, block object) object { return block["candidates"].([]any)[0].(object) }
	for name, spoil := range map[string]func(m, block object){
		"less noise of a candidate":  times(candidate, "noise_multiplier", 1-1e-6),
		"another error of it":        times(candidate, "error_at_privacy", 1+1e-6),
		"a better one was left":      times(candidate, "error_at_privacy", 0.01),
		"less noise":                 times(sampling, "noise_multiplier", 1-1e-6),
		"a larger lower bound":       times(sampling, "lower_bound", 1.01),
		"smaller probability":        times(sampling, "probability", 0.5),
		"fewer rounds":               times(sampling, "rounds", 0.5),
		"more groups":                times(sampling, "groups", 2),
		"smaller epsilon":            times(sampling, "epsilon", 1-1e-6),
		"smaller epsilon of privacy": times(privacy, "epsilon", 0.99),
		"less noise of privacy":      times(privacy, "noise_std", 0.5),
		"smaller error in turn":      times(top, "cyclic_error_at_privacy", 0.99),
		"smaller error":              times(top, "error_at_privacy", 0.99),
		"in turn":                    func(m, _ object) { m["sampling"] = object{"scheme": export.SchemeCyclic} },
		"nothing said":               func(m, _ object) { delete(m, "sampling") },
		"no candidates":              func(_, block object) { delete(block, "candidates") },
	} {
		if err := os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, manifest := readGeneric(t, dir)
		spoil(manifest, manifest["sampling"].(object))
		writeGeneric(t, dir, manifest)
		if r, err := verified(t, dir, verify.NetworkFiles{}); err == nil && r.OK() {
			t.Errorf("%s: not noticed", name)
		}
	}
}

// Noise, ε, confidence and strategy of bins belong together: the accountant bounds δ again. These take no samples, and
// an export that claims some is refused.
func TestVerifyBins(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	exported{solved: inBins}.save(t, dir)
	text, _ := readGeneric(t, dir)
	type object = map[string]any
	times := func(by float64, keys ...string) func(m object) { // of all, in sampling and privacy, too
		return func(m object) {
			for _, o := range []object{m, m["sampling"].(object), m["privacy"].(object)} {
				for _, key := range keys {
					if v, there := o[key]; there {
						o[key] = must(v.(json.Number).Float64()) * by
					}
				}
			}
		}
	}
	for name, spoil := range map[string]func(m object){
		"smaller epsilon":            times(0.9, "epsilon"),
		"a little smaller epsilon":   times(1-1e-6, "epsilon"),
		"smaller delta":              times(0.9, "delta"),
		"smaller delta, all of them": times(0.9, "delta", "confirmed_delta"),
		"half the noise":             times(0.5, "noise_multiplier", "noise_std"),
		"a little less noise":        times(1-1e-6, "noise_multiplier", "noise_std"),
		"less noise for this privacy": times(0.9, "noise_multiplier", "noise_std", "error_at_privacy",
			"cyclic_error_at_privacy"),
		"more confidence": func(m object) { m["sampling"].(object)["failure_probability"] = 1e-10 },
		"a larger lower bound": func(m object) {
			s := m["sampling"].(object)
			s["lower_bound"] = must(s["lower_bound"].(json.Number).Float64()) * 1.01
		},
		"more samples":        func(m object) { m["sampling"].(object)["samples"] = 4096 },
		"another seed":        func(m object) { m["sampling"].(object)["seed"] = 8 },
		"another trial":       func(m object) { m["sampling"].(object)["confirmations"] = 5 },
		"fewer bins":          func(m object) { m["sampling"].(object)["groups"] = 2 },
		"poisson":             func(m object) { m["sampling"].(object)["scheme"] = export.SchemePoisson },
		"in turn":             func(m object) { m["sampling"] = object{"scheme": export.SchemeCyclic} },
		"nothing said":        func(m object) { delete(m, "sampling") },
		"a gap":               func(m object) { m["gap"] = 0.1 },
		"a bound of no class": func(m object) { m["strategy"].(object)["class_bound"] = 1e-3 },
		"a better one was left": func(m object) {
			m["sampling"].(object)["candidates"].([]any)[0].(object)["error_at_privacy"] = 1
		},
		"no candidates": func(m object) { delete(m["sampling"].(object), "candidates") },
	} {
		if err := os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, manifest := readGeneric(t, dir)
		spoil(manifest)
		writeGeneric(t, dir, manifest)
		if r, err := verified(t, dir, verify.NetworkFiles{}); err == nil && r.OK() {
			t.Errorf("%s: not noticed", name)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("a negative entry", func(t *testing.T) { refuseNegativeEntry(t, must(export.Load(dir))) })
}

// refuseNegativeEntry: a strategy with a negative entry has no claim for bins, however small the entry is, and all else
// consistent.
func refuseNegativeEntry(t *testing.T, e *export.Export) {
	t.Helper()
	var lower mat.TriDense
	must(e.SharedStrategy()).StrategyTo(&lower)
	m := e.Manifest
	if err := m.ConfirmBins(t.Context(), &lower); err != nil {
		t.Error(err)
	}
	lower.SetTri(5, 0, -1e-300)
	if err := m.ConfirmBins(t.Context(), &lower); !errors.Is(err, bins.ErrDomination) {
		t.Errorf("%v", err)
	}
}

// Random allocation is checked as Poisson sampling is, by its own accountant.
func TestVerifyAllocation(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	x := exported{network: graph.NetworkOptions{Source: "florentine"},
		problem: plan.Problem{Schema: must(participation.NewCyclic(24, 4, 6))},
		options: plan.Options{Sampling: participation.Allocation, NoBaselines: true,
			Privacy: &plan.Privacy{Target: accounting.Target{Epsilon: 8, Delta: 1e-6}}}}
	x.save(t, dir)
	if r, err := verified(t, dir, verify.NetworkFiles{}); err != nil || !r.OK() {
		t.Fatal(r, err)
	}
	text, _ := readGeneric(t, dir)
	type object = map[string]any
	times := func(key string, by float64) func(m, block object) {
		return func(m, block object) { block[key] = must(block[key].(json.Number).Float64()) * by }
	}
	for name, spoil := range map[string]func(m, block object){
		"less noise":           times("noise_multiplier", 1-1e-5),
		"a smaller epsilon":    times("epsilon", 0.999),
		"fewer rounds":         times("rounds", 0.5),
		"a smaller chance":     times("probability", 0.5),
		"poisson":              func(_, block object) { block["scheme"] = export.SchemePoisson },
		"a lower bound":        func(_, block object) { block["lower_bound"] = 1.0 },
		"a lower epsilon":      func(_, block object) { block["epsilon_lower"] = block["epsilon"] },
		"samples":              func(_, block object) { block["samples"] = 4096 },
		"no candidates":        func(_, block object) { delete(block, "candidates") },
		"participations apart": func(m, _ object) { m["participation"].(object)["b"] = 5 },
	} {
		if err := os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, manifest := readGeneric(t, dir)
		spoil(manifest, manifest["sampling"].(object))
		writeGeneric(t, dir, manifest)
		if r, err := verified(t, dir, verify.NetworkFiles{}); err == nil && r.OK() {
			t.Errorf("%s: not noticed", name)
		}
	}
}

// The largest batch, the number of records and what is dropped belong to ε: none can be changed alone.
func TestVerifyTruncated(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	x := exported{network: graph.NetworkOptions{Source: "florentine"},
		problem: plan.Problem{Schema: must(participation.NewCyclic(13, 4, 4))},
		options: plan.Options{Sampling: participation.Truncated, Batches: sampling.Batches{Records: 200, Most: 85},
			NoBaselines: true, Privacy: &plan.Privacy{Target: accounting.Target{Epsilon: 12, Delta: 1e-6}}}}
	x.save(t, dir)
	text, _ := readGeneric(t, dir)
	if r, err := verified(t, dir, verify.NetworkFiles{}); err != nil || !r.OK() {
		t.Fatalf("%v, %+v", err, r)
	}
	for name, spoil := range map[string]func(s map[string]any){
		"smaller batches":    func(s map[string]any) { s["max_batch"] = 84 },
		"more records":       func(s map[string]any) { s["records"] = 201 },
		"nothing is dropped": func(s map[string]any) { delete(s, "overflow") },
		"less is dropped":    func(s map[string]any) { s["overflow"] = must(s["overflow"].(json.Number).Float64()) / 2 },
		"smaller epsilon":    func(s map[string]any) { s["epsilon"] = 11.9 },
		"a lower epsilon":    func(s map[string]any) { s["epsilon_lower"] = 11.9 },
		"no largest batch":   func(s map[string]any) { delete(s, "max_batch") },
		"poisson": func(s map[string]any) {
			s["scheme"], s["epsilon_lower"] = export.SchemePoisson, s["epsilon"]
		},
	} {
		if err := os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, manifest := readGeneric(t, dir)
		spoil(manifest["sampling"].(map[string]any))
		delete(manifest, "contract")
		writeGeneric(t, dir, manifest)
		if r, err := verified(t, dir, verify.NetworkFiles{}); err == nil && r.OK() {
			t.Errorf("%s: not noticed", name)
		}
	}
}

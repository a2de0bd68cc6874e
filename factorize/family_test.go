package factorize

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/participation"
	"mafalda/workload"
)

// familyOf returns curvatures on one machine with their optima.
func familyOf(t *testing.T, schema participation.Schema, xs ...float64) Family {
	t.Helper()
	var f Family
	for _, x := range xs {
		h, err := workload.Gram(t.Context(), nil, schema.Steps(), workload.Options{Spec: workload.Spec{Kind: workload.Prefix},
			Curvature: workload.Curvature{{X: x, Weight: 1}}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := (Dense{}).Optimize(t.Context(), Mean(h), schema, Options{})
		if err != nil {
			t.Fatal(err)
		}
		f.Grams, f.Optima = append(f.Grams, h), append(f.Optima, r.LowerBound)
	}
	return f
}

// One strategy for five curvatures: nobody does better in the worst case, and the ratios are what they are said to be.
func TestFamilyIsMinimax(t *testing.T) {
	schema, err := participation.NewCyclic(32, 4, 8)
	if err != nil {
		t.Fatal(err)
	}
	f := familyOf(t, schema, 0, 0.01, 0.1, 0.5, 0.9)
	r, err := OptimizeFamily(t.Context(), Dense{}, f, schema, Options{Gap: 1e-4})
	if err != nil {
		t.Fatal(err)
	}
	// Computed by an independent program (docs/objective.md): between 1.2287958 and 1.2288082.
	if r.Loss < 1.2287958 || r.Loss > 1.2288082*(1+1e-4) || r.LowerBound > 1.2288082 || r.LowerBound < 1.2287958*(1-1e-4) {
		t.Errorf("worst ratio %v, bound %v", r.Loss, r.LowerBound)
	}
	for i, h := range f.Grams {
		q, err := Evaluate(r.Strategy, Mean(h), schema)
		if err != nil {
			t.Fatal(err)
		}
		if ratio := q.Loss / f.Optima[i]; ratio > r.Loss*(1+1e-12) {
			t.Errorf("member %d has the ratio %v, above the worst of %v", i, ratio, r.Loss)
		}
	}
}

// A family of one member, or of several that are the same, is that problem.
func TestFamilyOfOne(t *testing.T) {
	schema, err := participation.NewCyclic(12, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	for _, xs := range [][]float64{{0.3}, {0.3, 0.3, 0.3}} {
		r, err := OptimizeFamily(t.Context(), Dense{}, familyOf(t, schema, xs...), schema, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Loss < 1-1e-9 || r.Loss > 1+1e-5 {
			t.Errorf("%v: worst ratio %v", xs, r.Loss)
		}
	}
	if _, err := OptimizeFamily(t.Context(), Dense{}, Family{}, schema, Options{}); err == nil {
		t.Error("an empty family has a strategy")
	}
	if _, err := OptimizeFamily(t.Context(), Dense{}, Family{Grams: []*mat.SymDense{mat.NewSymDense(3, nil)}, Optima: []float64{1}}, schema, Options{}); err == nil {
		t.Error("another number of steps")
	}
}

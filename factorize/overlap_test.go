package factorize

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/participation"
)

// TestOverlapObjectiveGradient compares with differences, for listed patterns and for min-sep's.
func TestOverlapObjectiveGradient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawAnySchema(t)
		n := s.Steps()
		scaled, _, err := scaleToUnit(randomGram(t, n))
		if err != nil {
			t.Fatal(err)
		}
		k := freeMask(s, n)
		if _, ok := s.(participation.MinSep); ok {
			k = freeMask(s, min(n, 2*s.Separation()))
		}
		search, err := newSearch(scaled, k, Options{})
		if err != nil {
			t.Fatal(err)
		}
		o := &overlapObjective{maskedObjective: search.objective, beta: 5, rounding: 1e-2}
		x := mat.DenseCopyOf(randomMember(t, k)).RawMatrix().Data
		v, g := make([]float64, n*n), make([]float64, n*n)
		rng := random(t)
		for i := range v {
			v[i] = rng.NormFloat64() / float64(n)
		}
		k.project(v)
		at := func(step float64) float64 {
			y := append([]float64(nil), x...)
			for i := range y {
				y[i] += step * v[i]
			}
			return o.Value(y)
		}
		o.Value(x)
		o.GradientTo(g)
		slope := mat.Dot(mat.NewVecDense(n*n, g), mat.NewVecDense(n*n, v))
		if want := (at(1e-5) - at(-1e-5)) / 2e-5; math.Abs(slope-want) > 1e-6*(1+math.Abs(want)) {
			t.Fatalf("%v: slope %v, by differences %v", s, slope, want)
		}
	})
}

// TestClassBoundWherePatternsOverlap is the defect of a class bound that was none: 24 steps, k = 3, b = 4 on the
// prefix workload, 8 bands. Within orthogonal columns and periodic norms the optimum is 332.46, and its certificate
// was called the class bound; strategies of these bands reach 1.6 % less, now found, and 0.6 % less without bands.
func TestClassBoundWherePatternsOverlap(t *testing.T) {
	h := prefixGram(24)
	s, err := participation.NewCyclic(24, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	for bands, least := range map[int]float64{8: 326.99, 24: 311.47} { // a semidefinite program has 326.93 and 311.43
		r, err := Banded{Bandwidth: bands}.Optimize(context.Background(), Mean(h), s, Options{})
		if err != nil || r.Loss > least || r.ClassBound > r.Loss || r.Sensitivity.Squared > 1 {
			t.Errorf("%d bands: %+v (%v), want a loss of %v", bands, r, err, least)
		}
		bound, err := overlapBound(context.Background(), h, newMask(s, bands), Options{})
		if err != nil || bound != r.ClassBound {
			t.Errorf("%d bands: bound %v (%v), the result has %v", bands, bound, err, r.ClassBound)
		}
	}
}

// TestWiderBandsUnderMinSep: bands beyond the separation pay. They were left at zero.
func TestWiderBandsUnderMinSep(t *testing.T) {
	h := prefixGram(24)
	s, err := participation.NewMinSep(24, 6, 4)
	if err != nil {
		t.Fatal(err)
	}
	before := math.Inf(1)
	for _, bands := range []int{4, 8, 24} {
		r, err := Banded{Bandwidth: bands}.Optimize(context.Background(), Mean(h), s, Options{})
		if err != nil || !r.Sensitivity.Exact || r.ClassBound > r.Loss || r.Loss > before {
			t.Errorf("%d bands: %+v (%v), and %v with fewer", bands, r, err, before)
		}
		before = r.Loss + 1e-9
	}
	if before > 642.1 {
		t.Errorf("loss %v, want at most 642.1", before)
	}
}

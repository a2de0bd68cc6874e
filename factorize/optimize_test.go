package factorize

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// On random small problems the optimum has the loss it claims, within the gap it claims, of a bound computed
// independently; sens is one; and no other strategy at hand is better than the bound.
func TestOptimizeIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		gap := rapid.SampledFrom([]float64{1e-4, 1e-6, 1e-9}).Draw(t, "gap")
		checkOptimum(t, randomGram(t, s.Steps()), s, gap, randomStrategy(t, s.Steps()))
	})
}

// The same for every k·b = T ≤ 24, on the centralized workload.
func TestEverySchema(t *testing.T) {
	for k := 1; k <= 24; k++ {
		for b := 1; k*b <= 24; b++ {
			checkOptimum(t, prefixGram(k*b), schema(t, k, b), 1e-8, strategy.Identity(k*b))
		}
	}
}

func checkOptimum(t rapid.TB, h *mat.SymDense, s participation.Cyclic, gap float64, other strategy.Strategy) {
	r, err := Dense{}.Optimize(context.Background(), Mean(h), s, Options{Gap: gap})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != optim.Converged || !(r.Gap <= gap) {
		t.Fatalf("%v: %v with the gap %v after %d iterations", s, r.Status, r.Gap, r.Iterations)
	}
	loss := lossByDefinition(r.Strategy, h, s.Patterns())
	if math.Abs(loss-r.Loss) > 1e-10*loss || math.Abs(r.Sensitivity.Squared-1) > 1e-12 || !r.Sensitivity.Exact {
		t.Fatalf("%v: loss %v, by definition %v, sensitivity %+v", s, r.Loss, loss, r.Sensitivity)
	}
	independent := boundByDefinition(h, strategy.GramOf(r.Strategy), s.Patterns())
	if r.LowerBound > r.Loss || (loss-independent)/independent > 2*gap+1e-10 {
		t.Fatalf("%v: loss %v is not within %v of the bound %v (claimed: %v)", s, loss, gap, independent, r.LowerBound)
	}
	for _, c := range []strategy.Strategy{strategy.Identity(s.Steps()), strategy.AntiPGD(s.Steps()), other} {
		if q, err := Evaluate(c, Mean(h), s); err != nil || q.Loss < r.LowerBound {
			t.Fatalf("%v: %T has the loss %v, below the bound %v (%v)", s, c, q.Loss, r.LowerBound, err)
		}
	}
	if s.Separation() == 1 {
		x := strategy.GramOf(r.Strategy)
		for i := range s.Steps() {
			for j := range i {
				if math.Abs(x.At(i, j)) > 1e-12 {
					t.Fatalf("b = 1: X[%d,%d] = %v, want a diagonal X", i, j, x.At(i, j))
				}
			}
		}
	}
}

// Closed forms: T = 1; b = 1, where X[s,s] ∝ √H[s,s] and the loss is (Σ √H[s,s])²; a diagonal H, whatever k.
func TestClosedForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		h := randomGram(t, s.Steps())
		every := schema(t, s.Steps(), 1)
		r, err := Dense{}.Optimize(context.Background(), Mean(h), every, Options{Gap: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		var roots float64
		for i := range s.Steps() {
			roots += math.Sqrt(h.At(i, i))
		}
		if math.Abs(r.Loss-roots*roots) > 1e-8*r.Loss {
			t.Fatalf("b = 1: loss %v, want %v", r.Loss, roots*roots)
		}
		diagonal := mat.NewSymDense(s.Steps(), nil)
		for i := range s.Steps() {
			diagonal.SetSym(i, i, h.At(i, i))
		}
		if r, err = (Dense{}).Optimize(context.Background(), Mean(diagonal), s, Options{Gap: 1e-9}); err != nil {
			t.Fatal(err)
		}
		var want float64 // independent patterns: Σ_i (Σ_{s∈π_i} √H[s,s])²
		for _, p := range s.Patterns() {
			var sum float64
			for _, step := range p {
				sum += math.Sqrt(diagonal.At(step, step))
			}
			want += sum * sum
		}
		if math.Abs(r.Loss-want) > 1e-8*want {
			t.Fatalf("diagonal H: loss %v, want %v", r.Loss, want)
		}
	})
}

// Under single participation the optimal X solves X Λ X = H with Λ diagonal: checked by that equation.
func TestSingleParticipationOptimality(t *testing.T) {
	h := prefixGram(16)
	r, err := Dense{}.Optimize(context.Background(), Mean(h), schema(t, 1, 16), Options{Gap: 1e-11})
	if err != nil {
		t.Fatal(err)
	}
	var inverse, half, lambda mat.Dense
	if err := inverse.Inverse(strategy.GramOf(r.Strategy)); err != nil {
		t.Fatal(err)
	}
	half.Mul(&inverse, h)
	lambda.Mul(&half, &inverse)
	for i := range 16 {
		for j := range i {
			if math.Abs(lambda.At(i, j)) > 1e-4*lambda.At(i, i) {
				t.Errorf("Λ[%d,%d] = %v against %v on the diagonal", i, j, lambda.At(i, j), lambda.At(i, i))
			}
		}
	}
}

// Scaling H scales the loss and nothing else.
func TestScaleInvariance(t *testing.T) {
	s := schema(t, 3, 4)
	for _, scale := range []float64{1e-100, 1e100} {
		h := prefixGram(12)
		want, err := Dense{}.Optimize(context.Background(), Mean(h), s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		h.ScaleSym(scale, h)
		got, err := Dense{}.Optimize(context.Background(), Mean(h), s, Options{})
		if err != nil || math.Abs(got.Loss/scale-want.Loss) > 1e-9*want.Loss || math.Abs(got.Gap-want.Gap) > 1e-9 {
			t.Errorf("scale %v: %+v, %v", scale, got, err)
		}
	}
}

func TestOptimizeEndings(t *testing.T) {
	h, s := prefixGram(64), schema(t, 4, 16)
	seen := 0
	r, err := Dense{}.Optimize(context.Background(), Mean(h), s, Options{MaxIterations: 3, Progress: func(it Iteration) {
		if it.Count != seen || !(it.Loss > it.LowerBound) || math.IsInf(it.Gap, 0) {
			t.Errorf("iteration %+v after %d", it, seen)
		}
		seen++
	}})
	if err != nil || r.Status != optim.IterationLimit || seen != 4 || !(r.Gap > 1e-6) || r.LowerBound > r.Loss {
		t.Errorf("limit: %+v, %v, %d iterations seen", r, err, seen)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r, err = Dense{}.Optimize(ctx, Mean(h), s, Options{Progress: func(it Iteration) {
		if it.Count == 2 {
			cancel()
		}
	}})
	if err != nil || r.Status != optim.Interrupted || r.Iterations != 2 || math.Abs(r.Sensitivity.Squared-1) > 1e-12 {
		t.Errorf("interrupted: %+v, %v", r, err)
	}
}

func TestOptimizeErrors(t *testing.T) {
	s := schema(t, 1, 2)
	nan := prefixGram(2)
	nan.SetSym(0, 0, math.NaN())
	for name, h := range map[string]*mat.SymDense{
		"NaN":        nan,
		"indefinite": mat.NewSymDense(2, []float64{1, 2, 2, 1}),
		"zero":       mat.NewSymDense(2, nil),
	} {
		if _, err := (Dense{}).Optimize(context.Background(), Mean(h), s, Options{}); !errors.Is(err, ErrGram) {
			t.Errorf("%s: error %v, want ErrGram", name, err)
		}
	}
	if _, err := (Dense{}).Optimize(context.Background(), Mean(prefixGram(3)), s, Options{}); err == nil {
		t.Error("three steps under a schema of two")
	}
	for _, gap := range []float64{-1, math.NaN(), 1e-17} {
		if _, err := (Dense{}).Optimize(context.Background(), Mean(prefixGram(2)), s, Options{Gap: gap}); err == nil {
			t.Errorf("gap %v accepted", gap)
		}
	}
}

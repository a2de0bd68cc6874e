package baselines

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/factorize"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// The square of the root is the workload of one node that trains alone: the recursion, column by column.
func TestSquareRootIsRoot(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		steps := rapid.IntRange(1, 12).Draw(r, "T")
		s := workload.Spec{Optimizer: workload.Optimizer{Momentum: rapid.Float64Range(0, 0.95).Draw(r, "β"),
			WeightDecay: rapid.Float64Range(0, 0.9).Draw(r, "λ"), GossipRounds: 3}}
		s.Nesterov = s.Momentum > 0 && rapid.Bool().Draw(r, "Nesterov")
		c, err := SquareRoot(s, steps, steps)
		if err != nil {
			r.Fatal(err)
		}
		want, err := workload.Explicit(nil, steps, s.Centralized())
		if err != nil {
			r.Fatal(err)
		}
		var lower mat.TriDense
		c.StrategyTo(&lower)
		var got mat.Dense
		got.Mul(&lower, &lower)
		if !mat.EqualApprox(&got, want, 1e-9*(1+mat.Norm(want, 1))) {
			r.Fatalf("C² =\n%v\nwant\n%v", mat.Formatted(&got), mat.Formatted(want))
		}
		bands := rapid.IntRange(1, steps).Draw(r, "bands")
		inverse, err := BandedInverseSquareRoot(s, steps, bands)
		if err != nil {
			r.Fatal(err)
		}
		var product mat.Dense // R·C has nothing beside the diagonal within the bands
		product.Mul(noising(r, inverse), &lower)
		for t := range steps {
			for u := max(0, t-bands+1); u <= t; u++ {
				want := 0.0
				if t == u {
					want = 1
				}
				if math.Abs(product.At(t, u)-want) > 1e-8 {
					r.Fatalf("entry (%d,%d) of R·C is %v", t, u, product.At(t, u))
				}
			}
		}
	})
}

func noising(r *rapid.T, s strategy.Strategy) *mat.TriDense {
	var m mat.TriDense
	if err := s.NoisingTo(&m); err != nil {
		r.Fatal(err)
	}
	return &m
}

// Plain training has the roots of prefix sums, to the last bit; rates that change have none.
func TestRootsOfOthers(t *testing.T) {
	got, err := SquareRoot(workload.Spec{Optimizer: workload.Optimizer{LocalSteps: 2}}, 9, 4)
	want, wantErr := strategy.SquareRoot(9, 4)
	var a, b mat.TriDense
	got.StrategyTo(&a)
	want.StrategyTo(&b)
	if err != nil || wantErr != nil || !mat.Equal(&a, &b) {
		t.Errorf("%v, %v", err, wantErr)
	}
	cosine, err := workload.ParseSchedule("cosine")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []workload.Spec{{Optimizer: workload.Optimizer{LearningRates: cosine}},
		{Absence: workload.Absence{MissedSteps: 0.1}}} {
		if _, err := SquareRoot(s, 9, 4); !errors.Is(err, ErrNoRoot) {
			t.Errorf("%v: %v", s, err)
		}
	}
	if _, err := SquareRoot(workload.Spec{}, 9, 10); err == nil {
		t.Error("ten bands of nine steps")
	}
}

// D-MF for an optimizer is the optimum for its centralized workload, and better there than D-MF that ignores it.
func TestDMFKnowsTheOptimizer(t *testing.T) {
	schema, err := participation.NewCyclic(24, 3, 8)
	if err != nil {
		t.Fatal(err)
	}
	s := workload.Spec{Optimizer: workload.Optimizer{Momentum: 0.9}, Changes: workload.Changes{LinkFailures: 0.1}}
	h, err := workload.Gram(context.Background(), nil, 24, workload.Options{Spec: s.Centralized()})
	if err != nil {
		t.Fatal(err)
	}
	loss := func(c strategy.Strategy, err error) float64 {
		if err != nil {
			t.Fatal(err)
		}
		q, err := factorize.Evaluate(c, factorize.Mean(h), schema)
		if err != nil {
			t.Fatal(err)
		}
		return q.Loss
	}
	aware, ignorant := loss(NewFor(t.Context(), DMF, s, schema)), loss(New(t.Context(), DMF, schema))
	best, err := factorize.Dense{}.Optimize(t.Context(), factorize.Mean(h), schema, factorize.Options{})
	if err != nil || aware < best.LowerBound || aware > best.Loss*(1+1e-6) || ignorant < 1.1*aware {
		t.Errorf("aware %v, ignorant %v, optimum %v to %v, %v", aware, ignorant, best.LowerBound, best.Loss, err)
	}
	if DMFGap(s, 24) <= DMFGap(workload.Spec{}, 24) || DMFGap(workload.Spec{Weights: workload.LastSteps(2)}, 24) != 1e-2 {
		t.Error("gaps")
	}
}

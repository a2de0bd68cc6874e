package factorize

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/participation"
	"mafalda/strategy"
)

// everyPattern lists the patterns of a schema of few steps by its definition.
func everyPattern(s participation.Schema) [][]int {
	if listed, ok := s.(interface{ Patterns() [][]int }); ok {
		return listed.Patterns()
	}
	var found [][]int
	for set := 1; set < 1<<s.Steps(); set++ {
		var pattern []int
		for step := range s.Steps() {
			if set>>step&1 == 1 && (len(pattern) == 0 || step-pattern[len(pattern)-1] >= s.Separation()) {
				pattern = append(pattern, step)
			} else if set>>step&1 == 1 {
				pattern = nil
				break
			}
		}
		if len(pattern) > 0 && len(pattern) <= s.Participations() {
			found = append(found, pattern)
		}
	}
	return found
}

// TestOverlapBoundIsNone: no strategy is below it, by brute force over all patterns and contributions that are
// vectors, wherever the guess x comes from; and Optimize finds one not far above it.
func TestOverlapBoundIsNone(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		s := drawAnySchema(t)
		for s.Steps() > 11 {
			s = drawAnySchema(t)
		}
		h := randomGram(t, s.Steps())
		best, err := Dense{}.Optimize(ctx, Mean(h), s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		other := randomStrategy(t, s.Steps())
		good, err := OverlapBound(ctx, h, strategy.GramOf(best.Strategy), s)
		if err != nil {
			t.Fatal(err)
		}
		poor, err := OverlapBound(ctx, h, strategy.GramOf(other), s)
		if err != nil {
			t.Fatal(err)
		}
		patterns := everyPattern(s)
		n := s.Steps()
		for _, c := range []strategy.Strategy{best.Strategy, other, strategy.Identity(n), strategy.AntiPGD(n), randomStrategy(t, n)} {
			sens, err := participation.VectorSensitivity(strategy.GramOf(c), patterns, participation.VectorOptions{})
			if err != nil {
				t.Fatal(err)
			}
			q, err := Evaluate(c, Mean(h), s)
			if err != nil {
				t.Fatal(err)
			}
			if loss := sens.Squared * q.SquaredError; loss < math.Max(good, poor)*(1-1e-12) {
				t.Fatalf("%v: %T has the loss %v, below the bounds %v, %v", s, c, loss, good, poor)
			}
		}
		if s.Separation() > 1 && best.Loss > 1.1*good { // two bands are few
			t.Fatalf("%v: loss %v, bound %v", s, best.Loss, good)
		}
	})
}

// TestOverlapBoundIsTight compares with what a semidefinite program (Clarabel) has for the prefix workload: the least
// loss of any strategy. The relaxation proved 2.6 % less.
func TestOverlapBoundIsTight(t *testing.T) {
	ctx := context.Background()
	s, err := participation.NewCyclic(24, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	h := prefixGram(24)
	r, err := Dense{}.Optimize(ctx, Mean(h), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	bound, err := OverlapBound(ctx, h, strategy.GramOf(r.Strategy), s)
	if optimum := 311.4256; err != nil || bound > optimum || bound < optimum*(1-1e-3) || r.LowerBound > 303.2 {
		t.Errorf("bound %v (%v), relaxed %v; want no more than %v and little less", bound, err, r.LowerBound, optimum)
	}
}

// TestDrawObjectiveGradient compares with differences.
func TestDrawObjectiveGradient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawAnySchema(t)
		scaled, _, err := scaleToUnit(randomGram(t, s.Steps()))
		if err != nil {
			t.Fatal(err)
		}
		x := strategy.GramOf(randomStrategy(t, s.Steps()))
		dual, err := dualOf(scaled, mat.DenseCopyOf(x).RawMatrix().Data, freeMask(s, s.Steps()))
		if err != nil {
			t.Fatal(err)
		}
		o := newDrawObjective(mat.DenseCopyOf(dual.upper), participation.Pool(s))
		z := o.start(x, dual.lambda)
		g, v := make([]float64, len(z)), make([]float64, len(z))
		rng := random(t)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		at := func(step float64) float64 {
			y := append([]float64(nil), z...)
			for i := range y {
				y[i] += step * v[i]
			}
			return o.Value(y)
		}
		o.Value(z)
		o.GradientTo(g)
		slope := mat.Dot(mat.NewVecDense(len(g), g), mat.NewVecDense(len(v), v))
		const step = 1e-5
		if want := (at(step) - at(-step)) / (2 * step); math.Abs(slope-want) > 1e-5*(1+math.Abs(want)) {
			t.Fatalf("%v: slope %v, by differences %v", s, slope, want)
		}
	})
}

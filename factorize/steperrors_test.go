package factorize

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/optim"
	"mafalda/strategy"
)

// stepGrams is a workload by the Gram matrices H_t of its steps.
type stepGrams []*mat.SymDense

func (g stepGrams) Steps() int { return len(g) }

func (g stepGrams) StepErrors(y mat.Symmetric) []float64 {
	var errors []float64
	for _, h := range g {
		errors = append(errors, mat.Trace(product(h, y)))
	}
	return errors
}

func (g stepGrams) WeightedGram(weights []float64) *mat.SymDense {
	sum := mat.NewSymDense(len(g), nil)
	for t, h := range g {
		var scaled mat.SymDense
		scaled.ScaleSym(weights[t], h)
		sum.AddSym(sum, &scaled)
	}
	return sum
}

// drawSteps draws a workload whose step t sums the noise of the steps up to t with random factors, one block of columns for
// each of a few nodes, and a shared part, so that every H_t has the full rank of its t steps.
func drawSteps(t *rapid.T, steps int) stepGrams {
	rng := random(t)
	var grams stepGrams
	for last := range steps {
		h := mat.NewSymDense(steps, nil)
		for range last + 2 {
			row := mat.NewVecDense(steps, nil)
			for s := range last + 1 {
				row.SetVec(s, rng.Float64()*math.Pow(0.8, float64(last-s))+0.1)
			}
			h.SymRankOne(h, 1, row)
		}
		grams = append(grams, h)
	}
	return grams
}

func worstOf(t *rapid.T, c strategy.Strategy, e StepErrors, s interface{ Patterns() [][]int }, pick func([]float64) float64) float64 {
	var noising mat.TriDense
	if err := c.NoisingTo(&noising); err != nil {
		t.Fatal(err)
	}
	y := mat.NewSymDense(c.Steps(), nil)
	y.SymOuterK(1, &noising)
	return sensByDefinition(strategy.GramOf(c), s.Patterns()) * pick(e.StepErrors(y))
}

func sensByDefinition(x *mat.SymDense, patterns [][]int) float64 {
	var largest float64
	for _, pattern := range patterns {
		var sum float64
		for _, i := range pattern {
			for _, j := range pattern {
				sum += math.Abs(x.At(i, j))
			}
		}
		largest = math.Max(largest, sum)
	}
	return largest
}

// TestWorstAndLast checks both objectives against their definition: the claimed loss is the true one, within the claimed gap
// of the claimed bound; no strategy at hand, and no other objective's optimum, is below the bound.
func TestWorstAndLast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := schema(t, rapid.IntRange(1, 3).Draw(t, "k"), rapid.IntRange(1, 4).Draw(t, "b"))
		e := drawSteps(t, s.Steps())
		worst, err := Dense{}.Optimize(context.Background(), Worst(e), s, Options{Gap: 1e-2})
		if err != nil {
			t.Fatal(err)
		}
		last, err := Dense{}.Optimize(context.Background(), Last(e), s, Options{Gap: 1e-2})
		if err != nil {
			t.Fatal(err)
		}
		mean := optimal(t, e.WeightedGram(slices.Repeat([]float64{1}, s.Steps())), s)
		final := func(errors []float64) float64 { return errors[len(errors)-1] }
		for name, tc := range map[string]struct {
			result *Result
			pick   func([]float64) float64
		}{"worst": {worst, slices.Max[[]float64]}, "last": {last, final}} {
			r := tc.result
			loss := worstOf(t, r.Strategy, e, s, tc.pick)
			if r.Status != optim.Converged || !(r.Gap <= 1e-2) || math.Abs(loss-r.Loss) > 1e-9*loss || r.LowerBound > loss {
				t.Fatalf("%s: %v, loss %v, by definition %v, bound %v", name, r.Status, r.Loss, loss, r.LowerBound)
			}
			for _, c := range []strategy.Strategy{worst.Strategy, last.Strategy, mean.Strategy, strategy.Identity(s.Steps()), randomStrategy(t, s.Steps())} {
				if other := worstOf(t, c, e, s, tc.pick); other < r.LowerBound {
					t.Fatalf("%s: a strategy has the loss %v, below the bound %v", name, other, r.LowerBound)
				}
			}
		}
		again, err := LowerBoundLast(e, strategy.GramOf(last.Strategy), s)
		if err != nil || again < last.LowerBound*(1-1e-9) || again > last.Loss {
			t.Fatalf("the bound of the last step is %v (%v), was %v", again, err, last.LowerBound)
		}
	})
}

// TestWorstOfOneStep: with one step all objectives are the same.
func TestWorstOfOneStep(t *testing.T) {
	e := stepGrams{mat.NewSymDense(1, []float64{3})}
	worst, err := Dense{}.Optimize(context.Background(), Worst(e), schema(t, 1, 1), Options{})
	if err != nil || math.Abs(worst.Loss-3) > 1e-12 {
		t.Errorf("worst: %v, %v", worst, err)
	}
	last, err := Dense{}.Optimize(context.Background(), Last(e), schema(t, 1, 1), Options{})
	if err != nil || math.Abs(last.Loss-3) > 1e-12 {
		t.Errorf("last: %v, %v", last, err)
	}
}

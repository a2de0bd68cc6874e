package plan

import (
	"math"
	"testing"

	"mafalda/factorize"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// What is looked at for many steps fits, is possible, and has the comb of period b wherever that fits.
func TestClassesForManyStepsFit(t *testing.T) {
	for _, tc := range []struct{ steps, k, b int }{{5000, 50, 100}, {5000, 1, 5000}, {4999, 7, 709}, {5000, 5000, 1},
		{5000, 3, 100}} {
		schema, err := participation.NewCyclic(tc.steps, tc.k, tc.b)
		if err != nil {
			t.Fatal(err)
		}
		for _, numbers := range []int{0, 1, 4, 5, 9, 51, 99, 100, 101, 104, 710, 4998, 4999, 6000} {
			whole := false
			for _, c := range longClasses(Problem{Schema: schema}, numbers) {
				if err := factorize.Supports(c, factorize.ManySteps, schema); err != nil {
					t.Errorf("%v, %d numbers: %s: %v", schema, numbers, ClassText(c), err)
				}
				p, keeps := c.Parameters(), 0
				switch c := c.(type) {
				case factorize.Toeplitz:
					keeps = p.Bandwidth - 1
				case factorize.BLT:
					keeps = p.Buffers
				case factorize.Comb:
					if whole = c.Bandwidth == 0; whole {
						p.Bandwidth = tc.b
					}
					if keeps = p.Buffers + p.Bandwidth; tc.b%p.Bandwidth != 0 {
						t.Errorf("%v, %d numbers: a period of %d", schema, numbers, p.Bandwidth)
					}
				}
				if keeps > numbers || keeps > 0 && keeps >= tc.steps {
					t.Errorf("%v, %d numbers: %s keeps %d", schema, numbers, ClassText(c), keeps)
				}
			}
			if fits := tc.b < tc.steps && tc.b > combBuffers && numbers > tc.b; whole != fits {
				t.Errorf("%v, %d numbers: comb of period b %v, fits %v", schema, numbers, whole, fits)
			}
		}
	}
}

// Of what fits a budget the best is taken, and it may be a comb, for many steps and for few.
func TestBudgetsChooseCombs(t *testing.T) {
	for name, tc := range map[string]struct{ steps, k, b, numbers int }{
		"many steps": {strategy.LongSteps + 4, 4, 1025, 1026},
		"few steps":  {20, 4, 5, 6},
	} {
		schema, err := participation.NewCyclic(tc.steps, tc.k, tc.b)
		if err != nil {
			t.Fatal(err)
		}
		p := Problem{Schema: schema, Workload: workload.Spec{Kind: workload.Prefix}}
		s, err := Solve(t.Context(), p, Options{NoBaselines: true,
			Budget: &Budget{Dim: 1, Memory: 8 * float64(tc.numbers)}})
		if err != nil {
			t.Fatal(err)
		}
		least, comb := math.Inf(1), math.Inf(1)
		for _, f := range s.Fitting {
			if f.Floats() > tc.numbers {
				t.Errorf("%s: %s keeps %d", name, ClassText(f.Class), f.Floats())
			}
			if least = min(least, f.Result.Loss); f.Class.Name() == "comb" {
				comb = f.Result.Loss
			}
		}
		if s.Quality.Loss != least || math.IsInf(comb, 1) || s.Strategy().NodeCost().Floats > tc.numbers {
			t.Errorf("%s: loss %v, least %v, of combs %v; keeps %d", name, s.Quality.Loss, least, comb,
				s.Strategy().NodeCost().Floats)
		}
	}
}

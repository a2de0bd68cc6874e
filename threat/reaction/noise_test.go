package reaction

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/strategy"
)

// correlated returns a system with noise of any class of strategies.
func correlated(t *testing.T, r *rand.Rand, s *System) *System {
	t.Helper()
	out, err := s.Correlated(randomStrategy(t, r, len(s.Steps)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func randomStrategy(t *testing.T, r *rand.Rand, steps int) strategy.Strategy {
	t.Helper()
	var c strategy.Strategy
	var err error
	switch bands := 1 + r.IntN(steps); r.IntN(6) {
	case 0:
		c, err = strategy.SquareRoot(steps, bands)
	case 1:
		c, err = strategy.BandedInverseSquareRoot(steps, bands)
	case 2:
		c = strategy.AntiPGD(steps)
	case 3:
		c, err = strategy.NewBLT(steps, 1, []strategy.Section{{A: 0.6, P: 0.1}})
	default:
		lower := mat.NewDense(steps, steps, nil)
		for i := range steps {
			for j := range i {
				if i-j < bands {
					lower.Set(i, j, r.Float64()-0.3)
				}
			}
			lower.Set(i, i, 0.5+r.Float64())
		}
		if r.IntN(2) == 0 {
			c, err = strategy.NewBanded(lower, bands)
		} else {
			c, err = strategy.NewDense(lower)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

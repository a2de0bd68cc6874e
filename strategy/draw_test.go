package strategy_test

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/strategy"
)

// What the tests of this package share: well-conditioned strategies of every class.

// draws makes strategies by the names of tests. A new class must be among them: see TestContractKnowsEveryClass.
func draws() map[string]func(t *rapid.T, steps int) strategy.Strategy {
	return map[string]func(t *rapid.T, steps int) strategy.Strategy{
		"dense":            func(t *rapid.T, steps int) strategy.Strategy { return drawDense(t, steps) },
		"banded":           func(t *rapid.T, steps int) strategy.Strategy { return drawBanded(t, steps) },
		"toeplitz":         func(t *rapid.T, steps int) strategy.Strategy { return drawToeplitz(t, steps, false) },
		"toeplitz, scaled": func(t *rapid.T, steps int) strategy.Strategy { return drawToeplitz(t, steps, true) },
		"blt":              func(t *rapid.T, steps int) strategy.Strategy { return drawBLT(t, steps) },
		"banded-inverse": func(t *rapid.T, steps int) strategy.Strategy {
			return must(strategy.NewBandedInverse(steps, drawToeplitz(t, steps, false).Parameters().Coefficients))
		},
		"comb": func(t *rapid.T, steps int) strategy.Strategy {
			if steps == 1 {
				return drawBLT(t, steps) // there is no comb
			}
			return drawComb(t, steps)
		},
		"comb, scaled": func(t *rapid.T, steps int) strategy.Strategy {
			if steps == 1 {
				return drawBLT(t, steps)
			}
			return must(drawComb(t, steps).WithColumns(drawColumns(t, steps)))
		},
		"dp-d-sgd": func(_ *rapid.T, steps int) strategy.Strategy { return strategy.Identity(steps) },
		"antipgd":  func(_ *rapid.T, steps int) strategy.Strategy { return strategy.AntiPGD(steps) },
		"tree":     func(_ *rapid.T, steps int) strategy.Strategy { return must(strategy.Tree(steps)) },
		"square root": func(t *rapid.T, steps int) strategy.Strategy {
			return must(strategy.SquareRoot(steps, rapid.IntRange(1, steps).Draw(t, "bands")))
		},
		"inverse square root": func(t *rapid.T, steps int) strategy.Strategy {
			return must(strategy.BandedInverseSquareRoot(steps, rapid.IntRange(1, steps).Draw(t, "bands")))
		},
	}
}

func drawComb(t *rapid.T, steps int) *strategy.Toeplitz {
	teeth := strategy.Teeth{P: rapid.Float64Range(-0.9, 0.9).Draw(t, "P"), A: rapid.Float64Range(-0.9, 0.9).Draw(t, "A")}
	scale, sections := drawSections(t)
	return must(strategy.NewComb(steps, scale, sections, rapid.IntRange(1, steps-1).Draw(t, "period"), teeth))
}

func drawColumns(t *rapid.T, steps int) strategy.Polynomial {
	more := rapid.SliceOfN(rapid.Float64Range(-0.4, 2), 0, min(2, steps-1)).Draw(t, "columns")
	return append(strategy.Polynomial{1}, more...)
}

func must[S strategy.Strategy](c S, err error) S {
	if err != nil {
		panic(err)
	}
	return c
}

func random(t *rapid.T) *rand.Rand { return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 6)) }

func drawLower(t *rapid.T, steps, bands int) *mat.TriDense {
	rng := random(t)
	c := mat.NewTriDense(steps, mat.Lower, nil)
	for i := range steps {
		for j := max(0, i-bands+1); j < i; j++ {
			c.SetTri(i, j, rng.NormFloat64()/float64(steps))
		}
		c.SetTri(i, i, 0.5+rng.Float64())
	}
	return c
}

func drawDense(t *rapid.T, steps int) *strategy.Dense {
	return must(strategy.NewDense(drawLower(t, steps, steps)))
}

func drawBanded(t *rapid.T, steps int) *strategy.Banded {
	bands := rapid.IntRange(1, steps).Draw(t, "bands")
	return must(strategy.NewBanded(drawLower(t, steps, bands), bands))
}

func drawToeplitz(t *rapid.T, steps int, scaled bool) *strategy.Toeplitz {
	rng := random(t)
	c := make([]float64, rapid.IntRange(1, steps).Draw(t, "bands"))
	for i := range c {
		c[i] = rng.NormFloat64() / float64(i+1) / 2
	}
	c[0] = 1
	var columns []float64
	if scaled {
		for range steps {
			columns = append(columns, 0.5+rng.Float64())
		}
	}
	return must(strategy.NewToeplitz(steps, c, columns))
}

func drawBLT(t *rapid.T, steps int) *strategy.Toeplitz {
	scale, sections := drawSections(t)
	return must(strategy.NewBLT(steps, scale, sections))
}

// drawSections draws the scale and up to three sections of a BLT, of two poles or one.
func drawSections(t *rapid.T) (scale float64, sections []strategy.Section) {
	rng := random(t)
	for range rapid.IntRange(0, 3).Draw(t, "sections") {
		s := strategy.Section{P: rng.Float64() - 0.5, A: 1.6*rng.Float64() - 0.8}
		if rng.IntN(2) == 0 {
			s.Q, s.B = 0.4*rng.Float64()-0.2, 0.6*rng.Float64()-0.1
		}
		sections = append(sections, s)
	}
	return 0.5 + rng.Float64(), sections
}

// lowerOf returns C, and inverseOf C⁻¹.
func lowerOf(c strategy.Strategy) *mat.TriDense {
	var lower mat.TriDense
	c.StrategyTo(&lower)
	return &lower
}

func inverseOf(t rapid.TB, c strategy.Strategy) *mat.TriDense {
	t.Helper()
	var inverse mat.TriDense
	if err := c.NoisingTo(&inverse); err != nil {
		t.Fatal(err)
	}
	return &inverse
}

package factorize

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/fault"
	"mafalda/internal/series"
)

// chooseStart returns the given X, brought into the domain, or else a guess, or the guess if it is better.
func chooseStart(h *mat.SymDense, o *maskedObjective, given *mat.SymDense) ([]float64, error) {
	guess := startFor(h, o)
	if given == nil {
		return guess, nil
	}
	if given.SymmetricDim() != o.steps {
		return nil, fault.New("Start", nil, "X of %d steps for %d", given.SymmetricDim(), o.steps)
	}
	x := numbersOf(given)
	o.mask.feasible(x)
	if o.Value(x) < o.Value(guess) {
		return x, nil
	}
	return guess, nil
}

// startFor returns a feasible X to start from, row by row: the best of three guesses. One is the banded square
// root of the prefix workload with b bands, or fewer if the mask has, whose CᵀC has the mask by itself, weighted by
// H[s,s]^(1/4) on both sides; another is diagonal with X[s,s] ∝ H[s,s]^(1/2), the optimum among diagonals. Where the
// patterns are a partition, the stationary X is the third.
func startFor(h *mat.SymDense, o *maskedObjective) []float64 {
	steps, b := o.steps, min(o.mask.schema.Separation(), o.mask.bandwidth)
	diagonal := make([]float64, steps*steps)
	weight := make([]float64, steps)
	for s := range steps {
		weight[s] = math.Sqrt(math.Sqrt(h.At(s, s)))
		diagonal[s*steps+s] = weight[s] * weight[s]
	}
	banded := seriesGram(series.PrefixRoot(b), steps).RawSymmetric().Data
	for s := range steps {
		for t := s; t < min(s+b, steps); t++ {
			v := banded[s*steps+t] * weight[s] * weight[t]
			banded[s*steps+t], banded[t*steps+s] = v, v
		}
	}
	guesses := [][]float64{diagonal, banded}
	if o.mask.partition() {
		guesses = append(guesses, newStationary(h, o.mask.schema.Separation()).gram())
	}
	best, least := diagonal, math.Inf(1)
	for _, x := range guesses {
		o.mask.feasible(x)
		if value := o.Value(x); value < least {
			best, least = x, value
		}
	}
	return best
}

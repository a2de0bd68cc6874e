package factorize

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/participation"
)

// chainSum is an upper bound of sens² under min-sep: the soft maximum over patterns of
// the sum of magnitudes of steps and of neighbours in the pattern, and of what each step can have at most with steps
// further on,
//
//	|X[s,s]| + 2 Σ_{2≤j≤k} max_{t ≥ s+jb} |X[s,t]|
//
// because the j-th step after s is at least jb later, and (j+1)b if the first is at least 2b later and no such
// neighbour. On florentine at T = 380, b = 19, 38 coefficients cost 215234 by it, and 221749 with 19; where patterns
// with steps exactly b apart are all that is looked at, 261790.
type chainSum struct {
	schema participation.MinSep
	beta   float64

	c       []float64 // the series of the last value
	weights []float64 // the derivative of the sum by entries of X, T×T
	signs   []float64 // signs of the upper triangle of X, T×T, where it is not zero
}

// refine descends from x, ever closer to the maximum, and returns the best point by the schema's own sensitivity, with
// its loss as value and the status of the last descent, and the number of iterations.
func refine(ctx context.Context, response Response, f family, schema participation.MinSep, x []float64, limit int) (best seriesPoint, iterations int) {
	chain := &chainSum{schema: schema, beta: 1}
	o := newSeriesObjective(response, f, chain, schema.Steps())
	best.x = slices.Clone(x)
	sens := 0.
	trueLoss := func(x []float64) float64 {
		chain.beta = 1
		if math.IsInf(o.Value(x), 0) {
			return math.Inf(1)
		}
		s, err := schema.Sensitivity(seriesGram(o.support, schema.Steps()))
		if err != nil {
			return math.Inf(1)
		}
		sens = s.Squared
		return o.error * sens
	}
	best.value = trueLoss(x)
	if len(x) == 0 || math.IsInf(best.value, 1) {
		return best, 0
	}
	x = slices.Clone(x)
	for _, sharpness := range minSepSharpness() {
		chain.beta = sharpness / sens
		ended := minimize(ctx, o, x, limit, 1e-10)
		iterations, best.status = iterations+ended.Iterations, ended.Status
		if loss := trueLoss(x); loss < best.value {
			best.x, best.value = slices.Clone(x), loss
		}
	}
	return best, iterations
}

// value returns the bound, and sets weights.
func (o *chainSum) value(c []float64) float64 {
	n, b := o.schema.Steps(), o.schema.Separation()
	o.c = c
	x := seriesGram(c, n)
	raw := x.RawSymmetric().Data
	if o.weights == nil {
		o.weights, o.signs = make([]float64, n*n), make([]float64, n*n)
	}
	clear(o.weights)
	for s := range n {
		for i := s*n + s; i < s*n+min(s+len(c), n); i++ {
			o.signs[i] = math.Copysign(1, raw[i])
			raw[i] = math.Abs(raw[i])
		}
	}
	var far [][2]int // of each step, entries of the largest at least jb away
	for s := range n {
		end := min(s+len(c), n) - 1
		at := end
		for j, t := min(o.schema.Participations(), (end-s)/b), end; j >= 2; j-- {
			for ; t >= s+j*b; t-- {
				if raw[s*n+t] > raw[s*n+at] {
					at = t
				}
			}
			far = append(far, [2]int{s*n + s, s*n + at})
		}
	}
	for _, e := range far {
		raw[e[0]] += 2 * raw[e[1]]
	}
	sum := participation.SoftMaximum(o.schema, x, o.beta, o.weights)
	for _, e := range far {
		o.weights[e[1]] += o.weights[e[0]]
	}
	for i, sign := range o.signs {
		o.weights[i] *= sign // of the upper triangle; the lower one becomes zero
	}
	return sum
}

// addGradient uses X[t-lag,t] = Σ c_i c_{i+lag} over i < n-t.
func (o *chainSum) addGradient(gc []float64) {
	n := o.schema.Steps()
	for lag := range o.c {
		factor := 2.
		if lag == 0 {
			factor = 1
		}
		var sum float64
		for t := lag; t < n; t++ {
			sum += o.weights[(t-lag)*n+t]
			if i := n - 1 - t; i+lag < len(o.c) { // i is in the entries up to this one
				gc[i] += factor * sum * o.c[i+lag]
				gc[i+lag] += factor * sum * o.c[i]
			}
		}
	}
}

// seriesGram returns CᵀC of the Toeplitz strategy of T = steps with coefficients c, by its diagonals.
func seriesGram(c []float64, steps int) *mat.SymDense {
	x := mat.NewSymDense(steps, nil)
	for lag := range min(len(c), steps) {
		var sum float64
		for t := steps - 1; t >= lag; t-- { // one more row that both columns have
			if i := steps - 1 - t; i+lag < len(c) {
				sum += c[i] * c[i+lag]
			}
			x.SetSym(t-lag, t, sum)
		}
	}
	return x
}

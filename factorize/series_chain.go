package factorize

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/optim"
	"mafalda/participation"
)

// chainObjective is log loss under min-sep for an upper bound of the sensitivity: the soft maximum over patterns of
// the sum of magnitudes of steps and of neighbours in the pattern, and of what each step can have at most with steps
// further on,
//
//	|X[s,s]| + 2 Σ_{2≤j≤k} max_{t ≥ s+jb} |X[s,t]|
//
// because the j-th step after s is at least jb later, and (j+1)b if the first is at least 2b later and no such
// neighbour.
type chainObjective struct {
	*seriesObjective
	schema participation.MinSep
	beta   float64

	weights []float64 // the derivative of the sensitivity by entries of X, T×T
	signs   []float64 // of X, T×T: of the upper triangle, where it is not zero
	sens    float64
}

// refine descends from x, ever closer to the maximum, and returns the best point by the schema's own sensitivity, with
// its loss as value and the status of the last descent, and the number of iterations.
func (o *chainObjective) refine(ctx context.Context, x []float64, limit int) (best seriesPoint, iterations int) {
	best.x, best.value = slices.Clone(x), o.trueLoss(x)
	if len(x) == 0 || math.IsInf(best.value, 1) {
		return best, 0
	}
	x = slices.Clone(x)
	for _, sharpness := range minSepSharpness() {
		o.beta = sharpness / o.sens
		done := func(it optim.Iteration) bool { return it.Count > 0 && it.Decrease < 1e-10 }
		ended := optim.Minimize(ctx, o, x, optim.Options{Memory: 20, MaxIterations: limit, Done: done})
		iterations, best.status = iterations+ended.Iterations, ended.Status
		if loss := o.trueLoss(x); loss < best.value {
			best.x, best.value = slices.Clone(x), loss
		}
	}
	return best, iterations
}

// trueLoss returns the loss of x by the schema's own bound of the sensitivity, which becomes sens, up to rounding;
// +Inf outside the domain.
func (o *chainObjective) trueLoss(x []float64) float64 {
	o.beta = 1
	if math.IsInf(o.Value(x), 0) {
		return math.Inf(1)
	}
	sens, err := o.schema.Sensitivity(seriesGram(o.c[:o.bands], o.steps))
	if err != nil {
		return math.Inf(1)
	}
	o.sens = sens.Squared
	return o.error * o.sens
}

// Value returns the logarithm of the loss.
func (o *chainObjective) Value(x []float64) float64 {
	if !o.family.seriesTo(o.c[:o.bands], x) {
		return math.Inf(1)
	}
	for s := range o.d {
		o.d[s] = 1
	}
	o.invert()
	o.error = o.squaredError()
	o.sensitivity()
	if !(o.error > 0) || !(o.sens > 0) || math.IsInf(o.error*o.sens, 1) {
		return math.Inf(1)
	}
	return math.Log(o.error) + math.Log(o.sens)
}

// sensitivity sets sens and weights.
func (o *chainObjective) sensitivity() {
	n, b := o.steps, o.schema.Separation()
	x := seriesGram(o.c[:o.bands], n)
	raw := x.RawSymmetric().Data
	if o.weights == nil {
		o.weights, o.signs = make([]float64, n*n), make([]float64, n*n)
	}
	clear(o.weights)
	for s := range n {
		for i := s*n + s; i < s*n+min(s+o.bands, n); i++ {
			o.signs[i] = math.Copysign(1, raw[i])
			raw[i] = math.Abs(raw[i])
		}
	}
	var far [][2]int // of each step, entries of the largest at least jb away
	for s := range n {
		end := min(s+o.bands, n) - 1
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
	o.sens = participation.SoftMaximum(o.schema, x, o.beta, o.weights)
	for _, e := range far {
		o.weights[e[1]] += o.weights[e[0]]
	}
	for i, sign := range o.signs {
		o.weights[i] *= sign // of the upper triangle; the lower one becomes zero
	}
}

// GradientTo writes the gradient of Value at its last point.
func (o *chainObjective) GradientTo(dst []float64) {
	gc := make([]float64, o.bands)
	o.errorGradient(gc)
	floats.Scale(1/o.error, gc)
	n := o.steps
	for lag := range o.bands { // X[t-lag,t] = Σ c_i c_{i+lag} over i < n-t
		factor := 2 / o.sens
		if lag == 0 {
			factor = 1 / o.sens
		}
		var sum float64
		for t := lag; t < n; t++ {
			sum += o.weights[(t-lag)*n+t]
			if i := n - 1 - t; i+lag < o.bands { // i is in the entries up to this one
				gc[i] += factor * sum * o.c[i+lag]
				gc[i+lag] += factor * sum * o.c[i]
			}
		}
	}
	o.family.pullTo(dst, gc)
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

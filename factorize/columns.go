package factorize

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/lists"
	"mafalda/participation"
	"mafalda/strategy"
)

// response returns the response of the objective, which is MeanError or ManySteps, for a number of steps.
func (o Objective) response(steps int) (Response, error) {
	if o.kind == ManySteps {
		return o.responses(steps, false)
	}
	return newGramResponse(o.gram), nil
}

// gramColumns returns Q of a Gram matrix: with M = T(r)T(r)ᵀ, Q[m,n] = Σ_{s,t} (s/T)^m H[s,t] M[s,t] (t/T)^n.
func gramColumns(h *mat.SymDense, r []float64, size int) *mat.SymDense {
	steps := len(r)
	all := lists.Make(steps, func(t int) []float64 { // powers
		p := make([]float64, size)
		p[0] = 1
		for m := 1; m < size; m++ {
			p[m] = p[m-1] * float64(t) / float64(steps)
		}
		return p
	})
	q := mat.NewSymDense(size, nil)
	for lag := range steps {
		var product float64 // M[s, s+lag]
		for s := 0; s+lag < steps; s++ {
			product += r[s] * r[s+lag]
			v := h.At(s, s+lag) * product
			if lag == 0 {
				v /= 2
			}
			for m := range size {
				for n := m; n < size; n++ {
					q.SetSym(m, n, q.At(m, n)+v*(all[s][m]*all[s+lag][n]+all[s][n]*all[s+lag][m]))
				}
			}
		}
	}
	return q
}

// scaleColumns replaces the comb of r, whose columns are not scaled, by one whose columns are divided by the quadratic
// polynomial e for which the loss is least. For a given comb the error is a quadratic form of e, and the sensitivity
// the largest sum of magnitudes of a pattern: a descent along the coordinates of Legendre polynomials, with ever
// smaller steps.
func scaleColumns(r *Result, o Objective, schema participation.Cyclic) error {
	comb := r.Strategy.(*strategy.Toeplitz)
	series := comb.Series()
	inverse, _, _ := strategy.ResponseOf(comb)
	response, err := o.response(schema.Steps())
	if err != nil {
		return err
	}
	q, err := response.Columns(inverse, min(columnScales, schema.Steps()))
	if err != nil {
		return err
	}
	d := make([]float64, schema.Steps())
	polynomial := func(x [2]float64) strategy.Polynomial { // of no more coefficients than steps
		if len(d) < columnScales {
			return strategy.Polynomial{1, 0, 0}[:len(d)]
		}
		return strategy.Polynomial{1 - x[0] + x[1], 2*x[0] - 6*x[1], 6 * x[1]}
	}
	loss := func(x [2]float64) float64 {
		e := polynomial(x)
		for t := range d {
			v := e.At(t, len(d))
			if !(v > leastColumn) {
				return math.Inf(1)
			}
			d[t] = 1 / v
		}
		v := mat.NewVecDense(len(e), e)
		squared, _ := strategy.ColumnsSum(series, d, schema)
		return squared * mat.Inner(v, q, v)
	}
	var x [2]float64
	least := loss(x)
	for step := 0.25; step > 1e-3; {
		better := false
		for i := range x {
			for _, by := range []float64{step, -step} {
				next := x
				next[i] += by
				if v := loss(next); v < least {
					x, least, better = next, v, true
				}
			}
		}
		if !better {
			step /= 2
		}
	}
	scaled, err := comb.WithColumns(polynomial(x))
	if err != nil {
		return err
	}
	return r.take(scaled, o, schema)
}

// columnScales is how many coefficients e has: with more the loss is less by no more than a thousandth.
const columnScales = 3

// mostColumnProducts is the most products of coefficients that a sensitivity of scaled columns takes in a search.
const mostColumnProducts = 1e8

// leastColumn is the least of the polynomial e of columns that is looked at, whose mean is 1.
const leastColumn = 1e-3

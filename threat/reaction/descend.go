package reaction

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"

	"mafalda/internal/gemm"
	"mafalda/optim"
)

// descent is the logarithm of the bound for a pattern as a function of the logarithms of all multipliers D. For a feedback
// Θ the bound is the largest over all runs of a number that is linear in D,
//
//	Σ_t |c_t|² + Σ_t Σ_v τ_v (|e_v|² − |δ_v|²) + Σ_t α (1 − |a|²),
//
// and the best feedback moves with D in second order only: the slope of the bound is what stands in brackets, in the run
// that is worst for D and Θ. One pass forward finds it. All values are proven bounds, wherever a search goes.
type descent struct {
	*search
	ctx    context.Context
	places []place   // where the multipliers belong
	left   int       // passes
	last   *trace    // the trace of the last value
	curve  []float64 // what the slope of each multiplier changes by, if no other one moves
}

// place is where a multiplier belongs: a column of B in a step.
type place struct{ step, column int }

// descent returns it at the best multipliers so far.
func (s *search) descent(ctx context.Context) (d *descent, x []float64) {
	d = &descent{search: s, ctx: ctx, left: descents}
	for t, all := range s.best {
		for j, v := range all {
			d.places, x = append(d.places, place{t, j}), append(x, math.Log(v))
		}
	}
	return d, x
}

// descend lowers the bound by the slope of its multipliers.
func (s *search) descend(ctx context.Context) error {
	d, x := s.descent(ctx)
	if len(x) == 0 {
		return nil
	}
	for range 2 { // what was proven with less margin is raised a little
		if !math.IsInf(d.Value(x), 1) {
			break
		}
		for i := range x {
			x[i] += 10 * thin
		}
	}
	defer func() { d.last.release() }()
	if d.last == nil {
		return context.Cause(ctx)
	}
	var values []float64
	optim.Minimize(ctx, d, x, optim.Options{Precondition: d.precondition, Done: func(i optim.Iteration) bool {
		values = append(values, i.Value)
		n := len(values)
		return raise(s.bound) <= s.enough || d.promise(i.Gradient) < worthGoingOn ||
			n > 2 && values[n-3]-values[n-1] < worthGoingOn
	}})
	return context.Cause(ctx)
}

// Value returns +Inf for multipliers that prove nothing.
func (d *descent) Value(x []float64) float64 {
	d.last.release()
	d.last = nil
	if d.left--; d.left < 0 {
		return math.Inf(1)
	}
	given := make([][]float64, len(d.gates))
	for i, p := range d.places {
		given[p.step] = append(given[p.step], math.Exp(x[i]))
	}
	defer func(why string) { d.why = why }(d.why) // a step too far says nothing of the bound
	tr, err := d.pass(d.ctx, func(t int, s *stepCost) multipliers {
		return multipliers{d: slices.Clone(given[t]), dominance: thin / 2, margin: thin, fixed: true}
	})
	if err != nil || tr == nil {
		return math.Inf(1)
	}
	d.last = tr
	return math.Log(tr.bound)
}

// GradientTo runs the worst run for the multipliers of the last value.
func (d *descent) GradientTo(dst []float64) {
	tr, i := d.last, 0
	d.curve = make([]float64, len(dst))
	chi := make([]float64, d.n)
	for t := tr.from; t < len(d.gates); t++ {
		a, priced := d.answers[t], tr.prices[t]
		sigma, answers := a.move.times(chi, 1), make([]float64, d.m)
		if t == tr.from {
			answers[d.node] = 1
		}
		delta := make([]float64, len(priced.nodes))
		for j, v := range priced.nodes {
			delta[j] = priced.scale[j] * dot(tr.pull[t][v*d.n:(v+1)*d.n], sigma)
		}
		if len(delta) > 0 {
			gemm.Trsm(blas.Left, blas.NoTrans, 1, priced.factor, general(len(delta), 1, delta))
			gemm.Trsm(blas.Left, blas.Trans, 1, priced.factor, general(len(delta), 1, delta))
		}
		for j, v := range priced.nodes {
			length := 1.0
			if j < priced.answers {
				length = chi[v]
			}
			answers[v] += priced.scale[j] * delta[j]
			dst[i] = priced.d[j] * (length*length - delta[j]*delta[j]) / tr.bound
			d.curve[i] = priced.d[j] * (length*length + delta[j]*delta[j]) / tr.bound
			i++
		}
		add(sigma, 1, a.inject.times(answers, 1))
		if t+1 < len(d.gates) {
			chi = tr.back[t].next(sigma, 1)
		}
	}
}

// promise returns what a step along a slope would gain if multipliers did not know of each other.
func (d *descent) promise(slope []float64) float64 {
	step := make([]float64, len(slope))
	d.precondition(step, slope)
	return dot(step, slope) / 2
}

// precondition divides a slope by how fast it changes.
func (d *descent) precondition(dst, g []float64) {
	for i, v := range g {
		dst[i] = v / math.Max(d.curve[i], 1e-9)
	}
}

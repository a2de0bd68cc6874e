package threat

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// What rounding does where the noise of messages changes its scale with the learning rates.
const (
	faintest  = 1e-10 // least variance of fresh noise, beside what else varies in a message, that is still told apart
	roundings = 1e-14 // error of a variance, beside the largest that it is made of
	probes    = 2     // combinations of a victim's gradients that are looked for without noise
	bareAbove = 1e-10 // what of a gradient shows without noise, beside the scale of messages, and is not rounding
)

// weigh returns the scale of the numbers that innovations of covariance S are made of, and raises the slack to what
// rounding can do beside fresh noise of covariance R: relatively, M changes at most as much as S does beside R. It is
// ErrUnclear if that is too much.
func (sys *system) weigh(wrong *mat.Dense, s *mat.SymDense, st *stage) (float64, error) {
	scale := maxDiagonal(s)
	if wrong != nil {
		scale += maxDiagonal(symmetric(mulT(mulT(st.c, wrong), st.c)))
	}
	if sys.degenerate {
		return scale, nil
	}
	floor := math.Inf(1) // R is diagonal: one message, one node's noise; or a multiple of I
	for i := range st.r.SymmetricDim() {
		floor = math.Min(floor, st.r.At(i, i))
	}
	return scale, sys.allow(floor, scale)
}

// round returns how wrong the state's covariance p can be after a round, as a multiple of the rounding error of a
// number. An error E before it is closed E closedᵀ afterwards; errors of S count K S Kᵀ, and errors of sums as much as
// their terms.
func (sys *system) round(wrong *mat.Dense, g *gains, p *mat.SymDense, cross *mat.Dense) *mat.Dense {
	if !sys.scaled || p == nil {
		return nil
	}
	m := p.SymmetricDim()
	next := mat.NewDense(m, m, nil)
	if wrong != nil {
		next = mulT(mulT(g.closed, wrong), g.closed)
	}
	if cross != nil {
		errors := mat.DenseCopyOf(g.gain)
		errors.Apply(func(_, j int, v float64) float64 { return v * g.s.diagonal[j] }, errors)
		next.Add(next, mulT(errors, g.gain))
	}
	for i := range m {
		sum := p.At(i, i)
		if cross != nil {
			sum += floats.Dot(g.gain.RawRowView(i), cross.RawRowView(i))
		}
		next.Set(i, i, next.At(i, i)+math.Max(sum, 0))
	}
	return next
}

// allow raises the slack to what rounding can do.
func (sys *system) allow(floor, scale float64) error {
	if !(floor >= faintest*scale) {
		return ErrUnclear
	}
	sys.slack = math.Max(sys.slack, roundings*scale/floor)
	return nil
}

func absolute(m *mat.Dense) *mat.Dense {
	m.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, m)
	return m
}

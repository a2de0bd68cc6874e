package workload

import (
	"math"
	"slices"

	"mafalda/internal/lists"
)

// spectrum is the end of the interval where eigenvalues of S are, and a little more than rounding makes of them.
const spectrum = 1 + 1e-12

// rough returns the sketch that says what the number of Lanczos steps may cost: its difference from this one stands
// for the error.
//
// Lanczos' method is Gauss quadrature, and rough is Gauss-Lobatto quadrature, with two eigenvalues of T moved to ±1,
// the ends of the spectrum. For symmetric W and errors that are sums of even powers of W, with positive coefficients,
// the truth is between the two; elsewhere that is an assumption, which held wherever the truth could be computed
// (some 2,000 cases, 2 to 40 Lanczos steps, up to 6000 steps of time). (The difference that the last quarter of the
// steps makes is too small by up to a factor of 27 where many more steps than there are Lanczos steps matter: long
// paths and cycles.)
func (s *Sketch) rough() *Sketch {
	other := *s
	other.probes = lists.Map(s.probes, (*run).pinSpectrum)
	if s.cross != nil {
		other.cross = s.cross.pinSpectrum()
	}
	return &other
}

// pinSpectrum returns the run with the last row of T such that ±1 are eigenvalues (Golub, Meurant: Matrices, Moments and
// Quadrature, Section 6.2.3): α - λ - β²/d(λ) = 0 there, d the last pivot of the other rows' T - λ. A run that has
// all dimensions of its start ends with a zero in T before, and does not see it.
func (r *run) pinSpectrum() *run {
	m := len(r.alpha)
	if m < 2 {
		return r
	}
	pivot := func(lambda float64) float64 {
		d := r.alpha[0] - lambda
		for j := 1; j < m-1; j++ {
			d = r.alpha[j] - lambda - r.beta[j-1]*r.beta[j-1]/d
		}
		return d
	}
	low, high := 1/pivot(-spectrum), 1/pivot(spectrum) // positive and negative
	square := 2 * spectrum / (low - high)
	p := *r
	p.alpha, p.beta = slices.Clone(r.alpha), slices.Clone(r.beta)
	if r.beta[m-2] > 0 {
		p.beta[m-2] = math.Sqrt(square)
	}
	p.alpha[m-1] = square*low - spectrum
	return &p
}

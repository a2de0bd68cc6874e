package workload

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/dense"
)

// balance is how much D^½WD^(-½) may differ from its transpose, relative to its largest entry, to be symmetric but
// for rounding.
const balance = 1e-12

// HasExactResponse reports whether ExactResponse has one.
func HasExactResponse(w *graph.CSR, pi []float64) bool {
	n, _ := w.Dims()
	return n <= MaxSpectralNodes && (w.Symmetric(0) || symmetrize(w, pi) != nil)
}

// ExactResponse returns the response of a gossip matrix by its eigenvalues. The matrix must have at most 2048 nodes and
// be symmetric, or in detailed balance with pi (nil if no such distribution exists); ok is false for others. With D = n·diag(π) and S =
// D^½WD^(-½) = UΘUᵀ the noise of a step shows as F_l = D^(-½)U x_l UᵀD^½, x_l diagonal, so that
//
//	‖F_l‖²_F = x_lᵀGx_l,   G = (UᵀD⁻¹U) ∘ (UᵀDU)   (the identity for symmetric W).
//
// O(n³) once, and T·n multiplications for an error, T·n² where W is not symmetric.
func ExactResponse(w *graph.CSR, pi []float64, s Spec, c Curvature, steps int) (r *Response, ok bool, err error) {
	if err := s.checkInvariant(); err != nil {
		return nil, false, err
	}
	m, err := spectralModes(w, pi)
	if err != nil || m == nil {
		return nil, err != nil, err
	}
	r, err = Options{Spec: s, Curvature: c}.directions(steps, func(s Spec) ([]*modes, error) {
		one := *m
		one.theta, one.input = slices.Clone(m.theta), slices.Repeat([]float64{1}, len(m.theta))
		one.respond(s)
		return []*modes{&one}, nil
	})
	return r, true, err
}

// spectralModes returns the eigenvalues of w, with their metric where it is not symmetric; nil where it has too many nodes
// or is not in detailed balance.
func spectralModes(w *graph.CSR, pi []float64) (*modes, error) {
	n, _ := w.Dims()
	m := &modes{weight: 1}
	switch {
	case n > MaxSpectralNodes:
	case w.Symmetric(0):
		var err error
		m.theta, err = eigenvalues(w)
		return m, err
	default:
		if sym := symmetrize(w, pi); sym != nil {
			return m, m.diagonalize(sym, pi)
		}
	}
	return nil, nil
}

// symmetrize returns S = D^½WD^(-½) if that is symmetric but for rounding, and nil otherwise.
func symmetrize(w *graph.CSR, pi []float64) *mat.SymDense {
	n, _ := w.Dims()
	if len(pi) != n {
		return nil
	}
	s := w.ToDense()
	var largest, worst float64
	for i := range n {
		for j := range n {
			s.Set(i, j, s.At(i, j)*math.Sqrt(pi[i]/pi[j]))
			largest = math.Max(largest, math.Abs(s.At(i, j)))
		}
	}
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			worst = math.Max(worst, math.Abs(s.At(i, j)-s.At(j, i)))
			sym.SetSym(i, j, (s.At(i, j)+s.At(j, i))/2)
		}
	}
	if !(worst <= balance*largest) {
		return nil
	}
	return sym
}

// diagonalize computes the filters and the metric from the eigenvalues of s.
func (m *modes) diagonalize(s *mat.SymDense, pi []float64) error {
	n := len(pi)
	theta, u, ok := dense.Spectrum(s)
	if !ok {
		return errors.New("eigenvalues of the gossip matrix did not converge")
	}
	m.theta = theta
	weighted := func(power float64) *mat.Dense { // UᵀD^power U
		var scaled mat.Dense
		scaled.Apply(func(i, _ int, v float64) float64 { return v * math.Pow(float64(n)*pi[i], power) }, u)
		var product mat.Dense
		dense.Mul(&product, u.T(), &scaled)
		return &product
	}
	m.metric = &mat.Dense{}
	m.metric.MulElem(weighted(-1), weighted(1))
	return nil
}

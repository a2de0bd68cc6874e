package workload

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/dense"
)

// run is what is left of a Lanczos run: e₁ᵀ T^p M T^q e₁ or lᵀT^q e₁, times scale.
type run struct {
	alpha, beta []float64 // the diagonal of T, and beside it
	scale       float64
	metric      *mat.SymDense // M; nil for the identity
	left        []float64     // Qᵀl
}

// powers returns the rows that l asks for, with T for W, times e₁ (count×m).
func (r *run) powers(l lags) ([]float64, int) {
	m := len(r.alpha)
	a := make([]float64, l.count*m)
	x := make([]float64, m)
	x[0] = 1
	l.rowsTo(func(p int) []float64 { return a[p*m : (p+1)*m] }, x, graph.NewCSRFromDense(r.tridiagonal()))
	return a, m
}

// tridiagonal returns T.
func (r *run) tridiagonal() *mat.SymDense {
	m := len(r.alpha)
	t := mat.NewSymDense(m, nil)
	for i, v := range r.alpha {
		t.SetSym(i, i, v)
		if i+1 < m {
			t.SetSym(i, i+1, r.beta[i])
		}
	}
	return t
}

// linear returns leftᵀ times the rows that l asks for.
func (r *run) linear(l lags) []float64 {
	a, m := r.powers(l)
	c := make([]float64, l.count)
	for q := range c {
		for i, v := range a[q*m : (q+1)*m] {
			c[q] += r.scale * v * r.left[i]
		}
	}
	return c
}

// addQuadratic adds weight·scale·aᵀMb to k[p,q], for the rows a and b of p and q.
func (r *run) addQuadratic(k []float64, l lags, weight float64) {
	a, m := r.powers(l)
	left := mat.NewDense(l.count, m, a)
	right := left
	if r.metric != nil {
		right = &mat.Dense{}
		dense.Mul(right, left, r.metric)
	}
	var product mat.Dense
	dense.Mul(&product, left, right.T())
	for i, v := range product.RawMatrix().Data {
		k[i] += weight * r.scale * v
	}
}

// modes diagonalizes T, and makes the filters of a time-invariant spec of it.
func (r *run) modes(s Spec, weight float64) (*modes, error) {
	theta, v, ok := dense.Spectrum(r.tridiagonal())
	if !ok {
		return nil, fmt.Errorf("eigenvalues of a Lanczos run did not converge")
	}
	out := &modes{theta: theta, input: mat.Row(nil, 0, v), weight: weight}
	out.respond(s)
	if r.metric != nil {
		var half mat.Dense
		dense.Mul(&half, v.T(), r.metric)
		out.metric = &mat.Dense{}
		dense.Mul(out.metric, &half, v)
	}
	if r.left != nil {
		out.left = make([]float64, len(theta))
		mat.NewVecDense(len(theta), out.left).MulVec(v.T(), mat.NewVecDense(len(theta), r.left))
	}
	return out, nil
}

package strategy

import (
	"errors"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/parallel"
)

// ErrNotPositiveDefinite is returned where a matrix has no Cholesky factor in floating point.
var ErrNotPositiveDefinite = errors.New("matrix is not positive definite")

// FromGram returns the lower-triangular C with positive diagonal and CᵀC = x.
//
// The textbook factor M of x = M Mᵀ is not it, although M is lower triangular too: MᵀM ≠ x. With the flip P of the
// order of rows, P x P = M Mᵀ gives C = P Mᵀ P, since CᵀC = P M Mᵀ P. X = [2 1; 1 1] has M = [√2 0; 1/√2 1/√2], and
// MᵀM = [2.5 .5; .5 .5]. An error is ErrNotPositiveDefinite.
func FromGram(x *mat.SymDense) (*Dense, error) {
	n := x.SymmetricDim()
	flipped := mat.NewSymDense(n, nil)
	parallel.For(n, func(i int) {
		for j := i; j < n; j++ {
			flipped.SetSym(i, j, x.At(n-1-i, n-1-j))
		}
	})
	var chol dense.Cholesky
	if !chol.Factorize(flipped) {
		return nil, ErrNotPositiveDefinite
	}
	upper := chol.RawU() // Mᵀ
	c := mat.NewTriDense(n, mat.Lower, nil)
	parallel.For(n, func(i int) {
		for j := range i + 1 {
			c.SetTri(i, j, upper.At(n-1-i, n-1-j))
		}
	})
	return &Dense{c}, nil
}

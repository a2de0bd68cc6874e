package gemm

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
)

// LAPACK is gonum's, with the Cholesky factorizations and triangular inverses of this package.
type LAPACK struct{ lapackgonum.Implementation }

var _ lapack.Float64 = LAPACK{}

// Dpotrf replaces one triangle of A by its Cholesky factor; it returns false if A is not positive definite.
func (LAPACK) Dpotrf(ul blas.Uplo, n int, a []float64, lda int) (ok bool) {
	check(n, n, a, lda)
	return cholesky(double(), ul == blas.Lower, n, a, lda)
}

// Dtrtri replaces a triangle by its inverse; for a singular one it returns false, with A as it was.
func (LAPACK) Dtrtri(ul blas.Uplo, d blas.Diag, n int, a []float64, lda int) (ok bool) {
	check(n, n, a, lda)
	for i := range n {
		if d == blas.NonUnit && a[i*lda+i] == 0 {
			return false
		}
	}
	invert(double(), triangle[float64]{operand[float64]{a, lda, false}, ul == blas.Lower, d == blas.Unit}, n)
	return true
}

// Dpotri replaces a Cholesky factor of A by one triangle of A⁻¹; it returns false if the factor has no inverse.
func (i LAPACK) Dpotri(ul blas.Uplo, n int, a []float64, lda int) (ok bool) {
	if !i.Dtrtri(ul, blas.NonUnit, n, a, lda) {
		return false
	}
	square(double(), ul == blas.Lower, n, a, lda)
	return true
}

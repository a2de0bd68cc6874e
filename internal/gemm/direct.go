package gemm

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// The functions here do what blas64, blas32 and lapack64 do under the same names, whatever the program has gonum use.

// sizeOf returns how many rows and columns op(A) has.
func sizeOf(t blas.Transpose, rows, cols int) (int, int) {
	if isTransposed(t) {
		return cols, rows
	}
	return rows, cols
}

// Gemm computes C = alpha·op(A)·op(B) + beta·C.
func Gemm(tA, tB blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.General) {
	m, k := sizeOf(tA, a.Rows, a.Cols)
	_, n := sizeOf(tB, b.Rows, b.Cols)
	BLAS{}.Dgemm(tA, tB, m, n, k, alpha, a.Data, a.Stride, b.Data, b.Stride,
		beta, c.Data, c.Stride)
}

// Gemm32 is Gemm in single precision.
func Gemm32(tA, tB blas.Transpose, alpha float32, a, b blas32.General, beta float32, c blas32.General) {
	m, k := sizeOf(tA, a.Rows, a.Cols)
	_, n := sizeOf(tB, b.Rows, b.Cols)
	BLAS{}.Sgemm(tA, tB, m, n, k, alpha, a.Data, a.Stride, b.Data, b.Stride,
		beta, c.Data, c.Stride)
}

// Syrk computes the triangle of C = alpha·op(A)·op(A)ᵀ + beta·C that C has.
func Syrk(t blas.Transpose, alpha float64, a blas64.General, beta float64, c blas64.Symmetric) {
	n, k := sizeOf(t, a.Rows, a.Cols)
	BLAS{}.Dsyrk(c.Uplo, t, n, k, alpha, a.Data, a.Stride, beta, c.Data, c.Stride)
}

// Trsm solves op(A)·X = alpha·B, or X·op(A) = alpha·B, with X in the place of B.
func Trsm(s blas.Side, tA blas.Transpose, alpha float64, a blas64.Triangular, b blas64.General) {
	BLAS{}.Dtrsm(s, a.Uplo, tA, a.Diag, b.Rows, b.Cols, alpha, a.Data, a.Stride, b.Data, b.Stride)
}

// Trmm replaces B by alpha·op(A)·B or alpha·B·op(A).
func Trmm(s blas.Side, tA blas.Transpose, alpha float64, a blas64.Triangular, b blas64.General) {
	BLAS{}.Dtrmm(s, a.Uplo, tA, a.Diag, b.Rows, b.Cols, alpha, a.Data, a.Stride, b.Data, b.Stride)
}

// Trmm32 is Trmm in single precision.
func Trmm32(s blas.Side, tA blas.Transpose, alpha float32, a blas32.Triangular, b blas32.General) {
	BLAS{}.Strmm(s, a.Uplo, tA, a.Diag, b.Rows, b.Cols, alpha, a.Data, a.Stride, b.Data, b.Stride)
}

// Potrf replaces a triangle of A by its Cholesky factor; it returns false if A is not positive definite.
func Potrf(a blas64.Symmetric) (factor blas64.Triangular, ok bool) {
	ok = LAPACK{}.Dpotrf(a.Uplo, a.N, a.Data, max(1, a.Stride))
	return blas64.Triangular{Uplo: a.Uplo, Diag: blas.NonUnit, N: a.N, Data: a.Data, Stride: a.Stride}, ok
}

// Potri replaces a Cholesky factor of A by one triangle of A⁻¹; it returns false if the factor has no inverse.
func Potri(factor blas64.Triangular) (inverse blas64.Symmetric, ok bool) {
	ok = LAPACK{}.Dpotri(factor.Uplo, factor.N, factor.Data, max(1, factor.Stride))
	return blas64.Symmetric{Uplo: factor.Uplo, N: factor.N, Data: factor.Data, Stride: factor.Stride}, ok
}

// Trtri replaces a triangle by its inverse; it returns false for a singular one.
func Trtri(a blas64.Triangular) (ok bool) {
	return LAPACK{}.Dtrtri(a.Uplo, a.Diag, a.N, a.Data, max(1, a.Stride))
}

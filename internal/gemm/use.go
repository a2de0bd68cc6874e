package gemm

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Use has all of gonum use these kernels from now on: gonum/mat, blas64, blas32 and lapack64, and with them what has no
// function of its own here (eigenvalues, singular values). It is for programs, when they start.
func Use() {
	blas64.Use(BLAS{})
	blas32.Use(BLAS{})
	lapack64.Use(LAPACK{})
}

// double and single are what BLAS and LAPACK call.
func double() level3[float64] {
	return level3[float64]{doubles, func(alpha float64, x, y []float64) {
		blasgonum.Implementation{}.Daxpy(len(x), alpha, x, 1, y, 1)
	}}
}

func single() level3[float32] {
	return level3[float32]{singles, func(alpha float32, x, y []float32) {
		blasgonum.Implementation{}.Saxpy(len(x), alpha, x, 1, y, 1)
	}}
}

func isTransposed(t blas.Transpose) bool { return t != blas.NoTrans }

package gemm

import (
	"gonum.org/v1/gonum/blas"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
)

// double and single are what BLAS and LAPACK call.
func double() level3[float64] {
	return level3[float64]{doubles, func(alpha float64, x, y []float64) { blasgonum.Implementation{}.Daxpy(len(x), alpha, x, 1, y, 1) }}
}

func single() level3[float32] {
	return level3[float32]{singles, func(alpha float32, x, y []float32) { blasgonum.Implementation{}.Saxpy(len(x), alpha, x, 1, y, 1) }}
}

func transposed(t blas.Transpose) bool { return t != blas.NoTrans }

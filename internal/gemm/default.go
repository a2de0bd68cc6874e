//go:build !openblas

package gemm

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/lapack/lapack64"
)

func init() {
	if _, ok := blas64.Implementation().(blasgonum.Implementation); !ok {
		return // the program has chosen
	}
	blas64.Use(BLAS{})
	blas32.Use(BLAS{})
	lapack64.Use(LAPACK{})
}

// Name says which kernels this machine uses.
func Name() string { return doubles.name }

//go:build openblas

package gemm

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/netlib/blas/netlib"
)

// With -tags openblas products are OpenBLAS's (or another library's that CGO_LDFLAGS names); Cholesky factors and inverses are
// those of this package, since the netlib bindings to LAPACK do not build with the gonum of today.
func init() {
	blas64.Use(netlib.Implementation{})
	blas32.Use(netlib.Implementation{})
	lapack64.Use(LAPACK{})
}

// Name says which kernels this machine uses.
func Name() string { return "OpenBLAS" }

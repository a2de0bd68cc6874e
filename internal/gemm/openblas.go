//go:build openblas

package gemm

import "gonum.org/v1/netlib/blas/netlib"

// products are, with -tags openblas, OpenBLAS's (or those of another library that CGO_LDFLAGS names). Cholesky factors
// and inverses are those of this package, since the netlib bindings to LAPACK do not build with the gonum of today.
type products = netlib.Implementation

// Name says which kernels this machine uses.
func Name() string { return "OpenBLAS" }

//go:build openblas

package gemm

import "gonum.org/v1/netlib/blas/netlib"

// products uses, with -tags openblas, OpenBLAS (or another library that CGO_LDFLAGS names). Cholesky factors and
// inverses come from this package, since the netlib bindings to LAPACK do not build with the gonum of today.
type products = netlib.Implementation

// Name says which kernels this machine uses.
func Name() string { return "OpenBLAS" }

//go:build !openblas

package gemm

// products are the kernels behind Gemm and its like.
type products = BLAS

// Name says which kernels this machine uses.
func Name() string { return doubles.name }

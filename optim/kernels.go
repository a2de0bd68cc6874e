package optim

import "mafalda/internal/gemm"

// UseKernels has all of gonum (mat, blas64, blas32, lapack64) use the dense kernels of this module: the machine's
// vector units and all processors. It is for a program to call when it starts, before anything is multiplied. The
// packages of the module do without: they call the kernels themselves, and importing them changes nothing. What gains
// from it here are eigenvalues and singular values, which gonum computes with products of its own.
func UseKernels() { gemm.Use() }

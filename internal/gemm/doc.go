// Package gemm has the kernels of dense linear algebra: matrix products, triangular solves and Cholesky factorizations
// that use the machine's vector units and all processors. The packages of this module call them directly (Gemm, Trsm,
// Potrf, …; internal/dense for gonum's matrices). Importing changes nothing in gonum: a program that wants gonum/mat,
// blas64 and lapack64 to use these kernels, too, says so with Use.
//
// # One kernel
//
// Everything comes down to C += A·B for a small tile of C, MR×NR numbers that stay in registers, and packed slivers of
// A and B (Goto & van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008):
//
//	AVX-512   8×24 float64    8×48 float32
//	AVX2      4×12            4×24
//	portable  4×4             4×4            (Go; what other processors run)
//
// The kernel is chosen when the program starts (engine); GODEBUG=cpu.avx512f=off, or cpu.avx512f=off,cpu.avx2=off,
// chooses a lesser one. An engine packs blocks that fit the caches, and divides C between goroutines. Triangular solves
// and products, Cholesky factors and inverses halve the matrix until it is small; what is off the diagonal are products
// (level3.go, cholesky.go).
//
// # Rounding
//
// Results do not depend on the number of processors, but on the kernel: multiplications and additions are fused where
// the machine does that, and sums are taken in blocks of 256. All sums are in the order that textbook error bounds are
// proven for, so that |fl(AB) - AB| ≤ γ_k |A||B| and Cholesky's backward error are what they are for gonum; nothing is
// inverted to be multiplied with, and nothing is of Strassen's kind.
package gemm

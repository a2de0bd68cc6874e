package dense

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/gemm"
)

// Cholesky is the factorization A = UᵀU of a symmetric positive definite matrix, as gonum's mat.Cholesky is. The zero
// value is for Factorize.
type Cholesky struct{ upper *mat.TriDense }

// Factorize returns false if a is not positive definite; c is of no use then.
func (c *Cholesky) Factorize(a mat.Symmetric) bool {
	n := a.SymmetricDim()
	if c.upper == nil || c.order() != n {
		c.upper = mat.NewTriDense(n, mat.Upper, nil)
	}
	u := c.upper.RawTriangular()
	raw, direct := a.(*mat.SymDense)
	for i := range n {
		row := u.Data[i*u.Stride:][:n]
		if direct {
			from := raw.RawSymmetric()
			copy(row[i:], from.Data[i*from.Stride+i:i*from.Stride+n])
			continue
		}
		for j := i; j < n; j++ {
			row[j] = a.At(i, j)
		}
	}
	_, ok := gemm.Potrf(blas64.Symmetric{Uplo: blas.Upper, N: u.N, Data: u.Data, Stride: u.Stride})
	return ok
}

func (c *Cholesky) order() int { n, _ := c.upper.Triangle(); return n }

// RawU returns U itself.
func (c *Cholesky) RawU() *mat.TriDense { return c.upper }

// LTo copies Uᵀ to dst, which is resized if it is empty.
func (c *Cholesky) LTo(dst *mat.TriDense) {
	if dst.IsEmpty() {
		dst.ReuseAsTri(c.order(), mat.Lower)
	}
	dst.Copy(c.upper.TTri())
}

// SolveTo writes A⁻¹b to dst, which is resized if it is empty. Nothing says how accurate it is.
func (c *Cholesky) SolveTo(dst *mat.Dense, b mat.Matrix) {
	if dst.IsEmpty() {
		dst.ReuseAs(b.Dims())
	}
	dst.Copy(b)
	gemm.Trsm(blas.Left, blas.Trans, 1, c.upper.RawTriangular(), dst.RawMatrix())
	gemm.Trsm(blas.Left, blas.NoTrans, 1, c.upper.RawTriangular(), dst.RawMatrix())
}

// InverseTo writes A⁻¹ to dst, of the same order. Nothing says how accurate it is.
func (c *Cholesky) InverseTo(dst *mat.SymDense) {
	n := c.order()
	inverse, from := dst.RawSymmetric(), c.upper.RawTriangular()
	for i := range n {
		copy(inverse.Data[i*inverse.Stride+i:i*inverse.Stride+n], from.Data[i*from.Stride+i:i*from.Stride+n])
	}
	from.Data, from.Stride = inverse.Data, inverse.Stride
	gemm.Potri(from) // which fails for a zero on the diagonal: no factor has one
}

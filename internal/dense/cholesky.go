package dense

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/gemm"
)

// Cholesky is the factorization A = UᵀU of a symmetric positive definite matrix, as gonum's mat.Cholesky is. The zero
// value is for Factorize.
type Cholesky struct {
	upper *mat.TriDense
	norm  float64 // norm of A
}

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
	symmetric := symmetricOf(u)
	c.norm = lapack64.Lansy(mat.CondNorm, symmetric, make([]float64, n))
	_, ok := gemm.Potrf(symmetric)
	return ok
}

// symmetricOf returns the symmetric matrix in the place of an upper triangle.
func symmetricOf(u blas64.Triangular) blas64.Symmetric {
	return blas64.Symmetric{Uplo: blas.Upper, N: u.N, Data: u.Data, Stride: u.Stride}
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

// SolveTo writes A⁻¹b to dst, which is resized if it is empty. The error is a mat.Condition: the result is of low
// accuracy.
func (c *Cholesky) SolveTo(dst *mat.Dense, b mat.Matrix) error {
	if dst.IsEmpty() {
		dst.ReuseAs(b.Dims())
	}
	dst.Copy(b)
	gemm.Trsm(blas.Left, blas.Trans, 1, c.upper.RawTriangular(), dst.RawMatrix())
	gemm.Trsm(blas.Left, blas.NoTrans, 1, c.upper.RawTriangular(), dst.RawMatrix())
	return c.condition()
}

// InverseTo writes A⁻¹ to dst, of the same order. The error is a mat.Condition: the result is of low accuracy.
func (c *Cholesky) InverseTo(dst *mat.SymDense) error {
	n := c.order()
	inverse, from := dst.RawSymmetric(), c.upper.RawTriangular()
	for i := range n {
		copy(inverse.Data[i*inverse.Stride+i:i*inverse.Stride+n], from.Data[i*from.Stride+i:i*from.Stride+n])
	}
	from.Data, from.Stride = inverse.Data, inverse.Stride
	if _, ok := gemm.Potri(from); !ok {
		return mat.Condition(math.Inf(1))
	}
	return c.condition()
}

// condition is the error of a condition number that is too large.
func (c *Cholesky) condition() error {
	n := c.order()
	reciprocal := lapack64.Pocon(symmetricOf(c.upper.RawTriangular()), c.norm, make([]float64, 3*n), make([]int, n))
	if condition := 1 / reciprocal; condition > mat.ConditionTolerance {
		return mat.Condition(condition)
	}
	return nil
}

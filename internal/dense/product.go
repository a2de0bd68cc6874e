package dense

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/gemm"
)

// Mul writes a·b to dst, which is resized if it is empty and must not overlap the factors. It is gonum's dst.Mul(a, b),
// of *mat.Dense, transposed or not, and of one of them with a *mat.SymDense or *mat.TriDense; others are gonum's to
// multiply.
func Mul(dst *mat.Dense, a, b mat.Matrix) {
	rows, inner := a.Dims()
	innerToo, cols := b.Dims()
	if inner != innerToo {
		panic(mat.ErrShape)
	}
	if dst.IsEmpty() {
		dst.ReuseAs(rows, cols)
	} else if r, c := dst.Dims(); r != rows || c != cols {
		panic(mat.ErrShape)
	}
	ga, ta, denseA := general(a)
	gb, tb, denseB := general(b)
	switch {
	case denseA && denseB:
		gemm.Gemm(ta, tb, 1, ga, gb, 0, dst.RawMatrix())
	case denseA:
		mulBy(dst, blas.Right, a, b)
	case denseB:
		mulBy(dst, blas.Left, b, a)
	default:
		dst.Mul(a, b)
	}
}

// mulBy writes x·m or, from the left, m·x to dst.
func mulBy(dst *mat.Dense, side blas.Side, x, m mat.Matrix) {
	inner, op := splitTranspose(m)
	multiply := dst.Mul
	switch inner := inner.(type) {
	case *mat.SymDense:
		m = mat.DenseCopyOf(inner)
		multiply = func(a, b mat.Matrix) { Mul(dst, a, b) }
	case *mat.TriDense:
		dst.Copy(x)
		gemm.Trmm(side, op, 1, inner.RawTriangular(), dst.RawMatrix())
		return
	}
	if side == blas.Left {
		multiply(m, x)
		return
	}
	multiply(x, m)
}

// splitTranspose returns X and op of a matrix op(X).
func splitTranspose(m mat.Matrix) (x mat.Matrix, op blas.Transpose) {
	op = blas.NoTrans
	for {
		t, ok := m.(mat.Untransposer)
		if !ok {
			return m, op
		}
		m = t.Untranspose()
		if op == blas.NoTrans {
			op = blas.Trans
		} else {
			op = blas.NoTrans
		}
	}
}

// general returns X and op of a matrix op(X), if it is dense.
func general(m mat.Matrix) (x blas64.General, op blas.Transpose, ok bool) {
	m, op = splitTranspose(m)
	if d, ok := m.(*mat.Dense); ok {
		return d.RawMatrix(), op, true
	}
	return blas64.General{}, op, false
}

// SymOuterK writes alpha·a·aᵀ to dst, which has as many rows as a and must not overlap it.
func SymOuterK(dst *mat.SymDense, alpha float64, a mat.Matrix) {
	dst.Zero()
	x, op, ok := general(a)
	if !ok {
		x, op = mat.DenseCopyOf(a).RawMatrix(), blas.NoTrans
	}
	if rows, _ := a.Dims(); rows != dst.SymmetricDim() {
		panic(mat.ErrShape)
	}
	gemm.Syrk(op, alpha, x, 1, dst.RawSymmetric())
}

// InverseTri writes a⁻¹ to dst, which has the order and the kind of a. The error is a mat.Condition: a has no inverse.
func InverseTri(dst, a *mat.TriDense) error {
	dst.Copy(a)
	if !gemm.Trtri(dst.RawTriangular()) {
		return mat.Condition(math.Inf(1))
	}
	return nil
}

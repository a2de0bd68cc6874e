package gemm

import (
	"gonum.org/v1/gonum/blas"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
)

// unblocked is the order at which gonum's routines for small matrices take over.
const unblocked = 64

// uplo returns the BLAS constant for the lower or the upper triangle.
func uplo(lower bool) blas.Uplo {
	if lower {
		return blas.Lower
	}
	return blas.Upper
}

// cholesky replaces one triangle of A, n×n, by its Cholesky factor: L of LLᵀ, or U of UᵀU. It returns false, with A in
// between, if A is not positive definite.
func cholesky(l level3[float64], lower bool, n int, a []float64, stride int) bool {
	if n <= unblocked {
		return lapackgonum.Implementation{}.Dpotf2(uplo(lower), n, a, stride)
	}
	h := half(n)
	if !cholesky(l, lower, h, a, stride) {
		return false
	}
	corner := a[h*stride+h:]
	if lower {
		off := a[h*stride:]
		l.right(l.solve, triangle[float64]{operand: operand[float64]{a, stride, true}}, n-h, h, off, stride)
		l.symmetric(true, n-h, h, -1, operand[float64]{off, stride, false}, corner, stride)
	} else {
		off := a[h:]
		l.applyLeft(l.solve, triangle[float64]{operand: operand[float64]{a, stride, true}, lower: true}, h, n-h, off, stride)
		l.symmetric(false, n-h, h, -1, operand[float64]{off, stride, true}, corner, stride)
	}
	return cholesky(l, lower, n-h, corner, stride)
}

// invert replaces a triangle of order n, A itself, by its inverse. No number on its diagonal may be zero.
func invert(l level3[float64], t triangle[float64], n int) {
	if n <= unblocked {
		diag := blas.NonUnit
		if t.unit {
			diag = blas.Unit
		}
		lapackgonum.Implementation{}.Dtrti2(uplo(t.lower), diag, n, t.data, t.stride)
		return
	}
	h := half(n)
	first, second := t, t.corner(h)
	invert(l, first, h)
	invert(l, second, n-h)
	if t.lower {
		off := t.data[h*t.stride:]
		negate(n-h, h, off, t.stride)
		l.applyLeft(l.multiply, second, n-h, h, off, t.stride)
		l.right(l.multiply, first, n-h, h, off, t.stride)
		return
	}
	off := t.data[h:]
	negate(h, n-h, off, t.stride)
	l.applyLeft(l.multiply, first, h, n-h, off, t.stride)
	l.right(l.multiply, second, h, n-h, off, t.stride)
}

func negate(rows, cols int, b []float64, stride int) {
	for i := range rows {
		row := b[i*stride:][:cols]
		for j := range row {
			row[j] = -row[j]
		}
	}
}

// square replaces L by LᵀL, or U by UUᵀ: one triangle of it, in the place of A.
func square(l level3[float64], lower bool, n int, a []float64, stride int) {
	if n <= unblocked {
		lapackgonum.Implementation{}.Dlauu2(uplo(lower), n, a, stride)
		return
	}
	h := half(n)
	corner := a[h*stride+h:]
	square(l, lower, h, a, stride)
	if lower {
		off := a[h*stride:]
		l.symmetric(true, h, n-h, 1, operand[float64]{off, stride, true}, a, stride)
		l.applyLeft(l.multiply, triangle[float64]{operand: operand[float64]{corner, stride, true}}, n-h, h, off, stride)
	} else {
		off := a[h:]
		l.symmetric(false, h, n-h, 1, operand[float64]{off, stride, false}, a, stride)
		l.right(l.multiply, triangle[float64]{operand: operand[float64]{corner, stride, true}, lower: true}, h, n-h,
			off, stride)
	}
	square(l, lower, n-h, corner, stride)
}

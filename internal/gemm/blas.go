package gemm

import (
	"gonum.org/v1/gonum/blas"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
)

// BLAS is gonum's, with the products and triangular solves of this package.
type BLAS struct{ blasgonum.Implementation }

var (
	_ blas.Float64 = BLAS{}
	_ blas.Float32 = BLAS{}
)

// check panics where a rows×cols matrix is not in the slice, as gonum does.
func check[T number](rows, cols int, data []T, stride int) {
	switch {
	case rows < 0 || cols < 0:
		panic("gemm: negative dimension")
	case stride < cols:
		panic("gemm: stride below the number of columns")
	case rows > 0 && cols > 0 && len(data) < (rows-1)*stride+cols:
		panic("gemm: slice too short")
	}
}

// checkOperand is check for op(X), rows×cols.
func checkOperand[T number](rows, cols int, o operand[T]) {
	if o.trans {
		rows, cols = cols, rows
	}
	check(rows, cols, o.data, o.stride)
}

// scale multiplies a matrix by beta; with 0 it clears whatever there was.
func scale[T number](rows, cols int, beta T, c []T, stride int) {
	if beta == 1 {
		return
	}
	for i := range rows {
		row := c[i*stride:][:cols]
		if beta == 0 {
			clear(row)
			continue
		}
		for j := range row {
			row[j] *= beta
		}
	}
}

func product[T number](e *engine[T], m, n, k int, alpha T, a, b operand[T], beta T, c []T, ldc int) {
	checkOperand(m, k, a)
	checkOperand(k, n, b)
	check(m, n, c, ldc)
	scale(m, n, beta, c, ldc)
	if alpha != 0 {
		e.add(m, n, k, alpha, a, b, c, ldc)
	}
}

// Dgemm computes C = alpha·op(A)·op(B) + beta·C.
func (BLAS) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int,
	beta float64, c []float64, ldc int) {
	product(doubles, m, n, k, alpha, operand[float64]{a, lda, isTransposed(tA)},
		operand[float64]{b, ldb, isTransposed(tB)}, beta, c, ldc)
}

// Sgemm computes C = alpha·op(A)·op(B) + beta·C.
func (BLAS) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int,
	beta float32, c []float32, ldc int) {
	product(singles, m, n, k, alpha, operand[float32]{a, lda, isTransposed(tA)},
		operand[float32]{b, ldb, isTransposed(tB)}, beta, c, ldc)
}

// Dsyrk computes one triangle of C = alpha·op(A)·op(A)ᵀ + beta·C.
func (BLAS) Dsyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64,
	c []float64, ldc int) {
	o := operand[float64]{a, lda, isTransposed(tA)}
	checkOperand(n, k, o)
	check(n, n, c, ldc)
	for i := range n {
		from, to := 0, i+1
		if ul == blas.Upper {
			from, to = i, n
		}
		scale(1, to-from, beta, c[i*ldc+from:], ldc)
	}
	if alpha != 0 && k > 0 {
		double().symmetric(ul != blas.Upper, n, k, alpha, o, c, ldc)
	}
}

// Dsymm computes C = alpha·A·B + beta·C or alpha·B·A + beta·C for a symmetric A of which one triangle is used.
func (BLAS) Dsymm(s blas.Side, ul blas.Uplo, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int,
	beta float64, c []float64, ldc int) {
	order := m
	if s == blas.Right {
		order = n
	}
	check(order, order, a, lda)
	full := make([]float64, order*order)
	for i := range order {
		from, to := 0, i+1
		if ul == blas.Upper {
			from, to = i, order
		}
		for j := from; j < to; j++ {
			full[i*order+j], full[j*order+i] = a[i*lda+j], a[i*lda+j]
		}
	}
	x, y, k := operand[float64]{full, max(1, order), false}, operand[float64]{b, ldb, false}, m
	if s == blas.Right {
		x, y, k = y, x, n
	}
	product(doubles, m, n, k, alpha, x, y, beta, c, ldc)
}

// triangularOn is Dtrsm, Dtrmm or Strmm: B = alpha·f(op(A))·B, or from the right.
func triangularOn[T number](l level3[T], f triangular[T], s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag,
	m, n int, alpha T, a []T, lda int, b []T, ldb int) {
	order := m
	if s == blas.Right {
		order = n
	}
	check(order, order, a, lda)
	check(m, n, b, ldb)
	scale(m, n, alpha, b, ldb)
	if m == 0 || n == 0 || alpha == 0 {
		return
	}
	t := triangle[T]{operand[T]{a, lda, isTransposed(tA)}, (ul == blas.Lower) != isTransposed(tA), d == blas.Unit}
	if s == blas.Left {
		l.applyLeft(f, t, m, n, b, ldb)
		return
	}
	l.right(f, t, m, n, b, ldb)
}

// Dtrsm solves op(A)·X = alpha·B or X·op(A) = alpha·B for a triangular A, with X in the place of B.
func (BLAS) Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64,
	lda int, b []float64, ldb int) {
	l := double()
	triangularOn(l, l.solve, s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
}

// Dtrmm computes B = alpha·op(A)·B or alpha·B·op(A) for a triangular A.
func (BLAS) Dtrmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64,
	lda int, b []float64, ldb int) {
	l := double()
	triangularOn(l, l.multiply, s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
}

// Strmm computes B = alpha·op(A)·B or alpha·B·op(A) for a triangular A.
func (BLAS) Strmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float32, a []float32,
	lda int, b []float32, ldb int) {
	l := single()
	triangularOn(l, l.multiply, s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
}

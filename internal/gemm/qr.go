package gemm

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
)

// reflected is how many columns are reduced before the rest of the matrix is reflected.
const reflected = 32

// Triangularize replaces the upper triangle of an m×n matrix, m ≥ n, by the factor R of A = QR, and what is below by
// scratch: Householder reflections, panel by panel (Schreiber & Van Loan 1989).
//
// It is here because gonum's Dgeqrf, up to 0.17.0 at least, is wrong for sparse matrices of more than 128 columns: in
// its Dlarft, which trims trailing zeros, the second reflector of a panel makes it forget how long the first one is (if i > 1
// where LAPACK's 1-based I > 1 is i > 0). For a 600×199 matrix with 1 % of its entries normal, the others 0, RᵀR - AᵀA is
// 1e-3 of AᵀA for one of three seeds. Its singular values of matrices much longer than wide, or wider than long, start from
// there, too; eigenvalues and vectors of symmetric matrices, and singular values of square ones, do not.
func Triangularize(m, n int, a []float64, lda int) {
	check(m, n, a, lda)
	if m < n {
		panic("gemm: Triangularize of a matrix with fewer rows than columns")
	}
	tau, work := make([]float64, reflected), make([]float64, max(n, reflected))
	for from := 0; from < n; from += reflected {
		width, rows := min(reflected, n-from), m-from
		block := a[from*lda+from:]
		lapackgonum.Implementation{}.Dgeqr2(rows, width, block, lda, tau[:width], work)
		if rest := n - from - width; rest > 0 {
			reflect(rows, width, rest, block, lda, tau)
		}
	}
}

// Reflected returns the product H_1 H_2 …, n×n, for the reflectors H_i = 1 - τ_i v vᵀ that Dgebrd leaves above the
// diagonal of a and beside it in tau: v is zero up to place i, 1 after it, and then what row i has.
//
// It is here because gonum's Dorgbr, by its Dlarft, is wrong for some matrices, as Dgeqrf is.
func Reflected(a []float64, n int, tau []float64) []float64 {
	check(n, n, a, n)
	out := make([]float64, n*n)
	for i := range n {
		out[i*n+i] = 1
	}
	for from := (n - 1) / reflected * reflected; from >= 0; from -= reflected {
		if v, width := reflectors(a, n, from, reflected); width > 0 {
			applyBlock(blas.NoTrans, v, blockFactor(v, n-from-1, width, tau[from:]), blas64.General{Rows: n - from - 1,
				Cols: n - from - 1, Stride: n, Data: out[(from+1)*n+from+1:]})
		}
	}
	return out
}

// ReflectRows replaces the rows of an n×n matrix by what Qᵀ makes of them from the right, for the Q that Reflected
// returns.
func ReflectRows(rows, a []float64, n int, tau []float64) {
	const together = 4 * reflected
	check(n, n, rows, n)
	check(n, n, a, n)
	for from := (n - 1) / together * together; from >= 0; from -= together {
		v, width := reflectors(a, n, from, together)
		if width <= 0 {
			continue
		}
		behind := n - from - 1
		along := make([]float64, n*width)
		BLAS{}.Dgemm(blas.NoTrans, blas.NoTrans, n, width, behind, 1, rows[from+1:], n, v, width, 0, along, width)
		BLAS{}.Dtrmm(blas.Right, blas.Upper, blas.Trans, blas.NonUnit, n, width, 1,
			blockFactor(v, behind, width, tau[from:]), width, along, width)
		BLAS{}.Dgemm(blas.NoTrans, blas.Trans, n, behind, width, -1, along, width, v, width, 1, rows[from+1:], n)
	}
}

// reflectors returns the vectors v of a number of reflectors, or of those left, from the given one on, a column each, without the zeros
// that all of them have.
func reflectors(a []float64, n, from, most int) (v []float64, width int) {
	width = max(min(most, n-1-from), 0)
	v = make([]float64, (n-from-1)*width)
	for j := range width {
		v[j*width+j] = 1
		for i := j + 1; i < n-from-1; i++ {
			v[i*width+j] = a[(from+j)*n+from+1+i]
		}
	}
	return v, width
}

// reflect applies the reflectors of a panel to the columns behind it: C ← C - V Tᵀ VᵀC, with V unit lower trapezoidal.
func reflect(rows, width, rest int, a []float64, lda int, tau []float64) {
	v := make([]float64, rows*width)
	for i := range rows {
		for j := range min(i+1, width) {
			v[i*width+j] = a[i*lda+j]
		}
		if i < width {
			v[i*width+i] = 1
		}
	}
	applyBlock(blas.Trans, v, blockFactor(v, rows, width, tau), blas64.General{Rows: rows, Cols: rest, Stride: lda,
		Data: a[width:]})
}

// blockFactor returns the upper triangular T of H_1 … H_k = 1 - V T Vᵀ: T_jj = τ_j and T_ij = -τ_j Σ_l T_il (VᵀV)_lj for
// i < j.
func blockFactor(v []float64, rows, width int, tau []float64) []float64 {
	square := make([]float64, width*width)
	BLAS{}.Dgemm(blas.Trans, blas.NoTrans, width, width, rows, 1, v, width, v, width, 0, square, width)
	t := make([]float64, width*width)
	for j := range width {
		t[j*width+j] = tau[j]
		for i := range j {
			for k := i; k < j; k++ {
				t[i*width+j] -= tau[j] * t[i*width+k] * square[k*width+j]
			}
		}
	}
	return t
}

// applyBlock replaces C by C - V op(T) VᵀC.
func applyBlock(op blas.Transpose, v, t []float64, c blas64.General) {
	width := len(v) / c.Rows
	along := make([]float64, width*c.Cols)
	BLAS{}.Dgemm(blas.Trans, blas.NoTrans, width, c.Cols, c.Rows, 1, v, width, c.Data, c.Stride, 0, along, c.Cols)
	BLAS{}.Dtrmm(blas.Left, blas.Upper, op, blas.NonUnit, width, c.Cols, 1, t, width, along, c.Cols)
	BLAS{}.Dgemm(blas.NoTrans, blas.NoTrans, c.Rows, c.Cols, width, -1, v, width, along, c.Cols, 1, c.Data, c.Stride)
}

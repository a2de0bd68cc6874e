package gemm

import (
	"gonum.org/v1/gonum/blas"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
)

// reflected is how many columns are reduced before the rest of the matrix is reflected.
const reflected = 32

// Triangularize replaces the upper triangle of an m×n matrix, m ≥ n, by the factor R of A = QR, and what is below by
// scratch: Householder reflections, panel by panel (Schreiber & Van Loan 1989).
//
// It is here because gonum's Dgeqrf, up to 0.17.0 at least, is wrong for sparse matrices of more than 128 columns: in
// its Dlarft the second reflector of a panel makes it forget how long the first one is (docs/performance.md). Its
// singular values of matrices much longer than wide, or wider than long, start from there, too.
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

// reflect applies the reflectors of a panel to the columns behind it: C ← C - V Tᵀ VᵀC, with V unit lower trapezoidal
// and T upper triangular, T_jj = τ_j and T_ij = -τ_j Σ_k T_ik (VᵀV)_kj for i < j.
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
	along := make([]float64, width*rest)
	BLAS{}.Dgemm(blas.Trans, blas.NoTrans, width, rest, rows, 1, v, width, a[width:], lda, 0, along, rest)
	BLAS{}.Dtrmm(blas.Left, blas.Upper, blas.Trans, blas.NonUnit, width, rest, 1, t, width, along, rest)
	BLAS{}.Dgemm(blas.NoTrans, blas.NoTrans, rows, rest, width, -1, v, width, along, rest, 1, a[width:], lda)
}

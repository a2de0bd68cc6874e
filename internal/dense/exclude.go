package dense

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"mafalda/internal/gemm"
	"mafalda/internal/lists"
)

// Update is P - FFᵀ + GGᵀ for a symmetric P, n×n: two factors of n rows and few columns.
type Update struct{ F, G blas64.General }

// Exclude returns the inverse of what is left of M, n×n and symmetric positive definite, as an update of P = M⁻¹: without
// the rows and columns of the nodes out, and with less on the diagonal at the nodes near, of which none is out: they lose
// the variances. The first term is a Schur complement, the second an update whose rank is the number of nodes near,
//
//	FFᵀ = P_·A (P_AA)⁻¹ P_A·,     GGᵀ = Q_·N (D⁻¹ - Q_NN)⁻¹ Q_N·,     Q = P - FFᵀ.
//
// Rows of nodes that are out mean nothing. It returns false if what is left is not positive definite in floating point.
// The cost is n·(|A| + |N|)² multiplications.
func Exclude(p []float64, n int, out, near []int, variances []float64) (u Update, ok bool) {
	u.F = columns(p, n, out)
	if !rightSolve(u.F, squareOf(u.F, out)) {
		return u, false
	}
	u.G = columns(p, n, near)
	if len(near) == 0 {
		return u, true
	}
	if len(out) > 0 {
		gemm.Gemm(blas.NoTrans, blas.Trans, -1, u.F, Pick(u.F, near), 1, u.G)
	}
	roots := lists.Map(variances, math.Sqrt)
	for i := range n {
		row := Row(u.G, i)
		for j, r := range roots {
			row[j] *= r
		}
	}
	core := squareOf(u.G, near) // D^½ Q_NN D^½, of which I - that is to be inverted
	for i, r := range roots {
		row := core.Data[i*core.Stride:][:len(near)]
		for j := range row {
			row[j] *= -r
		}
		row[i]++
	}
	return u, rightSolve(u.G, core)
}

// NewGeneral returns a matrix of zeros.
func NewGeneral(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(1, cols), Data: make([]float64, rows*cols)}
}

// Row returns a row of m, which is nil where there are no columns.
func Row(m blas64.General, i int) []float64 {
	if m.Cols == 0 {
		return nil
	}
	return m.Data[i*m.Stride:][:m.Cols]
}

// Pick returns a copy of rows of m.
func Pick(m blas64.General, rows []int) blas64.General {
	p := NewGeneral(len(rows), m.Cols)
	for i, r := range rows {
		copy(Row(p, i), Row(m, r))
	}
	return p
}

// columns returns a copy of columns of a symmetric matrix, n×n.
func columns(m []float64, n int, which []int) blas64.General {
	c := NewGeneral(n, len(which))
	for j, w := range which {
		for i, v := range m[w*n : (w+1)*n] {
			c.Data[i*c.Stride+j] = v
		}
	}
	return c
}

// squareOf returns a copy of rows of m that make a symmetric matrix.
func squareOf(m blas64.General, rows []int) blas64.Symmetric {
	p := Pick(m, rows)
	return blas64.Symmetric{Uplo: blas.Lower, N: p.Rows, Stride: p.Stride, Data: p.Data}
}

// rightSolve replaces b by bL⁻ᵀ for m = LLᵀ, so that bbᵀ becomes bm⁻¹bᵀ. It returns false if m is not positive definite.
func rightSolve(b blas64.General, m blas64.Symmetric) bool {
	if m.N == 0 {
		return true
	}
	l, ok := gemm.Potrf(m)
	if ok {
		gemm.Trsm(blas.Right, blas.Trans, 1, l, b)
	}
	return ok
}

// Package dense is what the rooms multiply, factor and invert dense matrices with: the kernels of internal/gemm, called
// directly, whatever BLAS the program has gonum use.
//
// Of square row-major matrices ([]float64 of n·n numbers, row by row) there are products where half of the work can be
// saved: triangular factors and symmetric results. For gonum's matrices there are products, Cholesky factors and
// inverses with the signatures and the results that gonum's own have under these kernels.
package dense

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/gemm"
	"mafalda/internal/parallel"
)

// tile is the number of rows that are multiplied at once; what lies beyond the diagonal within a tile is wasted.
const tile = 128

// rect is what of an n×n matrix is multiplied: rows by cols from (row, col) on.
type rect struct{ row, rows, col, cols int }

func (r rect) block(m []float64, n int) blas64.General {
	return blas64.General{Rows: r.rows, Cols: r.cols, Stride: n, Data: m[r.row*n+r.col:]}
}

// MulTo writes a·bᵀ to dst, which must not overlap the factors. Products of rows are the fastest ones.
func MulTo(dst, a, b []float64, n int) {
	all := rect{0, n, 0, n}
	gemm.Gemm(blas.NoTrans, blas.Trans, 1, all.block(a, n), all.block(b, n), 0, all.block(dst, n))
}

// MulUpperTo writes a·rᵀ to dst for an upper-triangular r. The lower triangle of r is not used, except within tiles,
// where it must be zero. dst must not overlap the factors.
func MulUpperTo(dst, a, r []float64, n int) {
	for from := 0; from < n; from += tile {
		size := min(tile, n-from)
		left, right, to := rect{0, n, from, n - from}, rect{from, size, from, n - from}, rect{0, n, from, size}
		gemm.Gemm(blas.NoTrans, blas.Trans, 1, left.block(a, n), right.block(r, n), 0, to.block(dst, n))
	}
}

// MulSymTo writes a·bᵀ to dst where that product is known to be symmetric: its lower triangle is computed and mirrored.
// dst must not overlap the factors, which may be the same.
func MulSymTo(dst, a, b []float64, n int) {
	for from := 0; from < n; from += tile {
		size := min(tile, n-from)
		left, right, to := rect{from, size, 0, n}, rect{0, from + size, 0, n}, rect{from, size, 0, from + size}
		gemm.Gemm(blas.NoTrans, blas.Trans, 1, left.block(a, n), right.block(b, n), 0, to.block(dst, n))
	}
	Mirror(dst, n)
}

// Mirror copies the lower triangle of m to the upper one.
func Mirror(m []float64, n int) {
	VisitBelow(n, func(i, from, to int) {
		for j := from; j < to; j++ {
			m[j*n+i] = m[i*n+j]
		}
	})
}

// MirrorUpper copies the upper triangle of m to the lower one.
func MirrorUpper(m []float64, n int) {
	VisitBelow(n, func(i, from, to int) {
		for j := from; j < to; j++ {
			m[i*n+j] = m[j*n+i]
		}
	})
}

// Full returns a lower triangular matrix with its zeros.
func Full(lower *mat.TriDense) *mat.Dense {
	raw := lower.RawTriangular()
	full := mat.NewDense(raw.N, raw.N, nil)
	parallel.For(raw.N, func(i int) { copy(full.RawRowView(i)[:i+1], raw.Data[i*raw.Stride:]) })
	return full
}

// FullTransposed returns the transpose of a lower triangular matrix, with its zeros.
func FullTransposed(lower *mat.TriDense) *mat.Dense {
	full := Full(lower)
	Transpose(full.RawMatrix().Data, full.RawMatrix().Rows)
	return full
}

// NewSym returns the symmetric n×n matrix of such entries, which are asked for where i ≤ j.
func NewSym(n int, at func(i, j int) float64) *mat.SymDense {
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, at(i, j))
		}
	}
	return s
}

// Identity returns the n×n identity matrix.
func Identity(n int) *mat.Dense {
	m := mat.NewDense(n, n, nil)
	for i := range n {
		m.Set(i, i, 1)
	}
	return m
}

// VisitBelow calls f, from several goroutines, for the rows of tiles that together are the triangle below the diagonal: columns from to to, without to.
func VisitBelow(n int, f func(i, from, to int)) {
	const size = 32
	tiles := (n + size - 1) / size
	parallel.For(tiles, func(job int) {
		i0 := (tiles - 1 - job) * size // the longest rows first
		for j0 := 0; j0 <= i0; j0 += size {
			for i := i0; i < min(i0+size, n); i++ {
				f(i, j0, min(j0+size, i))
			}
		}
	})
}

// Transpose swaps the triangles of m in place.
func Transpose(m []float64, n int) {
	VisitBelow(n, func(i, from, to int) {
		for j := from; j < to; j++ {
			m[j*n+i], m[i*n+j] = m[i*n+j], m[j*n+i]
		}
	})
}

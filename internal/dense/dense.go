// Package dense multiplies square row-major matrices where half of the work can be saved: triangular factors and
// symmetric results. The products themselves are gonum's, tile by tile; matrices are []float64 of n·n numbers, row by
// row.
package dense

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	_ "mafalda/internal/gemm" // makes them fast
)

// tile is the number of rows that are multiplied at once; what lies beyond the diagonal within a tile is wasted.
const tile = 128

func block(m []float64, n, row, rows, col, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: n, Data: m[row*n+col:]}
}

// MulTo writes a·bᵀ to dst, which must not overlap the factors. Products of rows are what gonum does fastest.
func MulTo(dst, a, b []float64, n int) {
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, block(a, n, 0, n, 0, n), block(b, n, 0, n, 0, n), 0, block(dst, n, 0, n, 0, n))
}

// MulUpperTo writes a·rᵀ to dst for an upper-triangular r. The lower triangle of r is not used, except within tiles, where
// it must be zero. dst must not overlap the factors.
func MulUpperTo(dst, a, r []float64, n int) {
	for from := 0; from < n; from += tile {
		size := min(tile, n-from)
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, block(a, n, 0, n, from, n-from), block(r, n, from, size, from, n-from),
			0, block(dst, n, 0, n, from, size))
	}
}

// MulSymTo writes a·bᵀ to dst where that product is known to be symmetric: its lower triangle is computed and mirrored.
// dst must not overlap the factors, which may be the same.
func MulSymTo(dst, a, b []float64, n int) {
	for from := 0; from < n; from += tile {
		size := min(tile, n-from)
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, block(a, n, from, size, 0, n), block(b, n, 0, from+size, 0, n),
			0, block(dst, n, from, size, 0, from+size))
	}
	Mirror(dst, n)
}

// Mirror copies the lower triangle of m to the upper one.
func Mirror(m []float64, n int) {
	const size = 32
	for i0 := 0; i0 < n; i0 += size {
		for j0 := 0; j0 <= i0; j0 += size {
			for i := i0; i < min(i0+size, n); i++ {
				for j := j0; j < min(j0+size, i); j++ {
					m[j*n+i] = m[i*n+j]
				}
			}
		}
	}
}

// Transpose swaps the triangles of m in place.
func Transpose(m []float64, n int) {
	const size = 32
	for i0 := 0; i0 < n; i0 += size {
		for j0 := 0; j0 <= i0; j0 += size {
			for i := i0; i < min(i0+size, n); i++ {
				for j := j0; j < min(j0+size, i); j++ {
					m[j*n+i], m[i*n+j] = m[i*n+j], m[j*n+i]
				}
			}
		}
	}
}

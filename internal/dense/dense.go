// Package dense multiplies square row-major matrices where half of the work can be saved: triangular factors and
// symmetric results. The products themselves are gonum's, tile by tile; matrices are []float64 of n·n numbers.
package dense

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// tile is the number of rows that are multiplied at once; what lies beyond the diagonal within a tile is wasted.
const tile = 128

func rows(m []float64, n, from, to int) blas64.General {
	return blas64.General{Rows: to - from, Cols: n, Stride: n, Data: m[from*n:]}
}

// MulUpperTo writes r·a to dst for an upper-triangular r. The lower triangle of r is not used, except within tiles, where
// it must be zero. dst must not overlap the factors.
func MulUpperTo(dst, r, a []float64, n int) {
	for from := 0; from < n; from += tile {
		to := min(from+tile, n)
		left := blas64.General{Rows: to - from, Cols: n - from, Stride: n, Data: r[from*n+from:]}
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, left, rows(a, n, from, n), 0, rows(dst, n, from, to))
	}
}

// MulSymTo writes aᵀ·b to dst where that product is known to be symmetric: its lower triangle is computed and mirrored.
// dst must not overlap the factors, which may be the same.
func MulSymTo(dst, a, b []float64, n int) {
	for from := 0; from < n; from += tile {
		to := min(from+tile, n)
		left := blas64.General{Rows: n, Cols: to - from, Stride: n, Data: a[from:]}
		right := blas64.General{Rows: n, Cols: to, Stride: n, Data: b}
		result := blas64.General{Rows: to - from, Cols: to, Stride: n, Data: dst[from*n:]}
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, left, right, 0, result)
	}
	Mirror(dst, n)
}

// Mirror copies the lower triangle of m to the upper one.
func Mirror(m []float64, n int) {
	const block = 32
	for i0 := 0; i0 < n; i0 += block {
		for j0 := 0; j0 <= i0; j0 += block {
			for i := i0; i < min(i0+block, n); i++ {
				for j := j0; j < min(j0+block, i); j++ {
					m[j*n+i] = m[i*n+j]
				}
			}
		}
	}
}

// Transpose swaps the triangles of m in place.
func Transpose(m []float64, n int) {
	const block = 32
	for i0 := 0; i0 < n; i0 += block {
		for j0 := 0; j0 <= i0; j0 += block {
			for i := i0; i < min(i0+block, n); i++ {
				for j := j0; j < min(j0+block, i); j++ {
					m[j*n+i], m[i*n+j] = m[i*n+j], m[j*n+i]
				}
			}
		}
	}
}

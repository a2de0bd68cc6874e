package ppac

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// addCompensated adds AᵀB to dst, as if in twice the precision and then rounded: the error is below u|dst| +
// (nu)²(|dst₀| + |A|ᵀ|B|), for sums of n terms (Ogita, Rump & Oishi, "Accurate sum and dot product", Algorithm 5.3).
func addCompensated(dst, a, b blas64.General) {
	low := make([]float64, len(dst.Data))
	for i := range a.Rows {
		for r, x := range a.Data[i*a.Stride : i*a.Stride+a.Cols] {
			if x == 0 {
				continue
			}
			for c, y := range b.Data[i*b.Stride : i*b.Stride+b.Cols] {
				at := r*dst.Stride + c
				p := x * y
				high := dst.Data[at]
				t := high + p
				z := t - high
				low[at] += ((high - (t - z)) + (p - z)) + math.FMA(x, y, -p)
				dst.Data[at] = t
			}
		}
	}
	for at, v := range low {
		dst.Data[at] += v
	}
}

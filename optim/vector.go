package optim

import (
	"gonum.org/v1/gonum/floats"

	"mafalda/internal/parallel"
)

// dot returns xᵀy, summed chunk by chunk.
func dot(x, y []float64) float64 {
	if len(x) <= parallel.Part {
		return floats.Dot(x, y)
	}
	return parallel.Sum(len(x), func(from, to int) float64 { return floats.Dot(x[from:to], y[from:to]) })
}

// addScaled adds alpha·x to y.
func addScaled(y []float64, alpha float64, x []float64) {
	parallel.Chunks(len(x), func(_, from, to int) { floats.AddScaled(y[from:to], alpha, x[from:to]) })
}

// subTo writes x - y to dst.
func subTo(dst, x, y []float64) {
	parallel.Chunks(len(x), func(_, from, to int) { floats.SubTo(dst[from:to], x[from:to], y[from:to]) })
}

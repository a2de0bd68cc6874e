package factorize

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/participation"
)

// OptimizeBandedInverse minimizes the loss over Toeplitz strategies whose noising matrix C⁻¹ has opts.Bandwidth bands (0
// means b), from several starts: among them the banded inverse square root (BISR, Kalinin, McKenna, Pradhan & Lampert
// 2025), the first coefficients of (1-x)^(1/2). A node that runs such a strategy keeps w-1 vectors of independent noise.
// There is no certificate; the errors are OptimizeToeplitz's.
func OptimizeBandedInverse(ctx context.Context, h *mat.SymDense, schema participation.Cyclic, opts ToeplitzOptions) (*ToeplitzResult, error) {
	bands := opts.Bandwidth
	if bands == 0 {
		bands = schema.Separation()
	}
	if err := checkBandwidth(bands, schema.Steps()); err != nil {
		return nil, err
	}
	f := &inverseSeries{bands: bands, r: make([]float64, bands)}
	var starts [][]float64
	for _, decay := range []float64{1, 0.9, 0.6} {
		x := invertSeries(squareRootCoefficients(bands), bands)[1:]
		for i := range x {
			x[i] *= math.Pow(decay, float64(i+1))
		}
		starts = append(starts, x)
	}
	best, err := optimizeSeries(ctx, h, schema, f, starts, opts)
	if err != nil {
		return nil, err
	}
	return best.result(h, schema)
}

// BandedInverseSquareRoot returns BISR: C⁻¹ is Toeplitz with the first bands coefficients of (1-x)^(1/2).
func BandedInverseSquareRoot(steps, bands int) (*Toeplitz, error) {
	if err := checkBandwidth(bands, steps); err != nil {
		return nil, err
	}
	r := invertSeries(squareRootCoefficients(bands), bands)
	return &Toeplitz{steps: steps, c: invertSeries(r, steps)}, nil
}

// inverseSeries is the family of series c = 1/r with so many coefficients in r, r_0 = 1: the parameters are r_1, r_2, ...
type inverseSeries struct {
	bands int
	r, c  []float64
}

func (f *inverseSeries) dimension() int { return f.bands - 1 }

func (f *inverseSeries) seriesTo(c, x []float64) bool {
	f.r[0] = 1
	copy(f.r[1:], x)
	copy(c, invertSeries(f.r, len(c)))
	f.c = append(f.c[:0], c...)
	return allFinite(c)
}

// pullTo uses dc = -c*c*dr.
func (f *inverseSeries) pullTo(dst, gc []float64) {
	n := len(gc)
	square := make([]float64, n)
	for i := range square {
		var sum float64
		for j := range i + 1 {
			sum += f.c[j] * f.c[i-j]
		}
		square[i] = sum
	}
	for j := range dst {
		dst[j] = -floats.Dot(gc[j+1:], square[:n-j-1])
	}
}

func allFinite(c []float64) bool {
	for _, v := range c {
		if v-v != 0 || math.Abs(v) > 1e100 {
			return false
		}
	}
	return true
}

package factorize

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/series"
	"mafalda/participation"
	"mafalda/strategy"
)

// OptimizeBandedInverse minimizes the loss over Toeplitz strategies whose noising matrix C⁻¹ has bands bands, from several
// starts: among them BandedInverseSquareRoot. There is no certificate; the errors are OptimizeToeplitz's.
func OptimizeBandedInverse(ctx context.Context, h *mat.SymDense, schema participation.Schema, bands int) (*SeriesResult, error) {
	if err := strategy.CheckBandwidth(bands, schema.Steps()); err != nil {
		return nil, err
	}
	f := &inverseSeries{bands: bands, r: make([]float64, bands)}
	best, err := optimizeSeries(ctx, h, schema, f, inverseStarts(bands), ToeplitzOptions{})
	if err != nil {
		return nil, err
	}
	c, err := strategy.NewBandedInverse(schema.Steps(), append([]float64{1}, best.parameters...))
	if err != nil {
		return nil, fmt.Errorf("strategy of the optimum: %w", err)
	}
	return best.result(c, h, schema)
}

// inverseStarts returns inverses of square roots, with some decay.
func inverseStarts(bands int) [][]float64 {
	var starts [][]float64
	for _, decay := range []float64{1, 0.9, 0.6} {
		x := series.Invert(series.PrefixRoot(bands), bands)[1:]
		for i := range x {
			x[i] *= math.Pow(decay, float64(i+1))
		}
		starts = append(starts, x)
	}
	return starts
}

// inverseSeries is the family of series c = 1/r with so many coefficients in r, r_0 = 1: the parameters are r_1, r_2, ...
type inverseSeries struct {
	bands int
	r, c  []float64
}

func (f *inverseSeries) dimension() int { return f.bands - 1 }

func (f *inverseSeries) fresh() family {
	return &inverseSeries{bands: f.bands, r: make([]float64, f.bands)}
}

func (f *inverseSeries) seriesTo(c, x []float64) bool {
	f.r[0] = 1
	copy(f.r[1:], x)
	copy(c, series.Invert(f.r, len(c)))
	f.c = append(f.c[:0], c...)
	return allFinite(c)
}

// pullTo uses dc = -c*c*dr.
func (f *inverseSeries) pullTo(dst, gc []float64) {
	n := len(gc)
	square := series.Square(f.c)
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

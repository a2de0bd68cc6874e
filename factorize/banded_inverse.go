package factorize

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/participation"
)

// BandedInverse is a Toeplitz strategy whose noising matrix C⁻¹ has few bands: C⁻¹[t,s] = r[t-s], zero for t-s ≥ w. A node
// that runs it keeps the last w-1 rows of independent noise.
type BandedInverse struct {
	steps int
	r     []float64 // r[0] > 0
}

var _ Strategy = (*BandedInverse)(nil)

// NewBandedInverse returns the strategy of T = steps whose noising matrix has these coefficients, which are copied.
func NewBandedInverse(steps int, coefficients []float64) (*BandedInverse, error) {
	if _, err := NewToeplitz(steps, coefficients, nil); err != nil {
		return nil, err
	}
	return &BandedInverse{steps, append([]float64(nil), coefficients...)}, nil
}

// BandedInverseSquareRoot returns BISR (Kalinin, McKenna, Pradhan & Lampert 2025): the noising matrix has the first bands
// coefficients of (1-x)^(1/2).
func BandedInverseSquareRoot(steps, bands int) (*BandedInverse, error) {
	if err := checkBandwidth(bands, steps); err != nil {
		return nil, err
	}
	return &BandedInverse{steps, invertSeries(squareRootCoefficients(bands), bands)}, nil
}

// Steps returns T.
func (b *BandedInverse) Steps() int { return b.steps }

// Coefficients returns a copy of r.
func (b *BandedInverse) Coefficients() []float64 { return append([]float64(nil), b.r...) }

// StrategyTo writes C, the Toeplitz matrix of 1/r, to dst.
func (b *BandedInverse) StrategyTo(dst *mat.TriDense) {
	(&Toeplitz{steps: b.steps, c: invertSeries(b.r, b.steps)}).StrategyTo(dst)
}

// NoisingTo writes C⁻¹ to dst.
func (b *BandedInverse) NoisingTo(dst *mat.TriDense) error {
	(&Toeplitz{steps: b.steps, c: b.r}).StrategyTo(dst)
	return nil
}

// Scaled returns by·C.
func (b *BandedInverse) Scaled(by float64) Strategy {
	r := b.Coefficients()
	floats.Scale(1/by, r)
	return &BandedInverse{b.steps, r}
}

// OptimizeBandedInverse minimizes the loss over Toeplitz strategies whose noising matrix C⁻¹ has bands bands, from several
// starts: among them BandedInverseSquareRoot. There is no certificate; the errors are OptimizeToeplitz's.
func OptimizeBandedInverse(ctx context.Context, h *mat.SymDense, schema participation.Schema, bands int) (*SeriesResult, error) {
	if err := checkBandwidth(bands, schema.Steps()); err != nil {
		return nil, err
	}
	f := &inverseSeries{bands: bands, r: make([]float64, bands)}
	best, err := optimizeSeries(ctx, h, schema, f, inverseStarts(bands), ToeplitzOptions{})
	if err != nil {
		return nil, err
	}
	return best.result(&BandedInverse{schema.Steps(), append([]float64{1}, best.parameters...)}, h, schema)
}

// inverseStarts returns inverses of square roots, with some decay.
func inverseStarts(bands int) [][]float64 {
	var starts [][]float64
	for _, decay := range []float64{1, 0.9, 0.6} {
		x := invertSeries(squareRootCoefficients(bands), bands)[1:]
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
	copy(c, invertSeries(f.r, len(c)))
	f.c = append(f.c[:0], c...)
	return allFinite(c)
}

// pullTo uses dc = -c*c*dr.
func (f *inverseSeries) pullTo(dst, gc []float64) {
	n := len(gc)
	square := squareSeries(f.c)
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

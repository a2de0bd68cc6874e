package factorize

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"mafalda/internal/series"
	"mafalda/participation"
	"mafalda/strategy"
)

// BandedInverse is the class of Toeplitz strategies whose noising matrix C⁻¹ has few bands: Bandwidth is the number of
// its coefficients w, 0 means b.
type BandedInverse Parameters

// Name returns "banded-inverse".
func (BandedInverse) Name() string { return (*strategy.BandedInverse)(nil).Name() }

// Traits says that there are coefficients.
func (BandedInverse) Traits() Traits {
	return Traits{
		About:     "C⁻¹ of w coefficients, w-1 rows kept (default b)",
		Bandwidth: participation.Schema.Separation,
		Kinds:     []Kind{MeanError, ManySteps},
	}
}

// With returns the class of another bandwidth.
func (c BandedInverse) With(p Parameters) (Class, error) { return BandedInverse(p), refuse(c, p) }

// Parameters lists the parameters of banded inverses.
func (c BandedInverse) Parameters() Parameters { return Parameters(c) }

// Optimize minimizes the loss from several starts: among them strategy.BandedInverseSquareRoot. There is no
// certificate; for Long, and for errors, see Toeplitz.
func (c BandedInverse) Optimize(
	ctx context.Context, o Objective, schema participation.Schema, opts Options,
) (*Result, error) {
	if err := accepts(c, o, schema, opts); err != nil {
		return nil, err
	}
	bands, err := bandwidth(c, c.Bandwidth, schema)
	if err != nil {
		return nil, err
	}
	s := &seriesSearch{
		schema:  schema,
		family:  &inverseSeries{bands: bands, r: make([]float64, bands)},
		long:    func() longFamily { return &longFree{bands: bands, inverse: true} },
		starts:  inverseStarts(bands),
		options: opts,
		strategy: func(x, _ []float64) (strategy.Strategy, error) {
			return strategy.NewBandedInverse(schema.Steps(), append([]float64{1}, x...))
		},
	}
	return s.optimize(ctx, o)
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

// inverseSeries is the family of series c = 1/r with so many coefficients in r, r_0 = 1: the parameters are r_1, r_2,
// ...
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

// inverseTo writes the parameters.
func (f *inverseSeries) inverseTo(r []float64) {
	clear(r)
	copy(r, f.r)
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

package factorize

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/parallel"
	"mafalda/participation"
)

// nestedFamily is a family that holds smaller ones.
type nestedFamily interface {
	family
	starts(separation int) [][]float64

	// narrower returns a smaller family and the map from its points to points of the same series; nil if there is none.
	narrower(separation int) (smaller nestedFamily, widen func(x []float64) []float64)
}

var (
	_ nestedFamily = freeSeries(0)
	_ nestedFamily = (*inverseSeries)(nil)
	_ nestedFamily = (*rationalSeries)(nil)
)

const (
	minSepSeeds      = 2   // of the descents that only look at patterns whose steps are exactly b apart
	minSepIterations = 300 // of each descent
)

// minSepSharpness are the soft maxima that follow one another, for a sensitivity of about one.
var minSepSharpness = []float64{200, 3000, 40000}

// optimizeUnderMinSep minimizes the loss over a family under min-sep, where neither are the patterns few enough to
// look at all of them, nor are those whose steps are exactly b apart the worst if coefficients from b on do not
// decrease. Descents of chainObjective, which bounds them all, start from the optimum of the next smaller family and
// from the best points of descents that look at steps exactly b apart. All of these are measured by the schema's own
// sensitivity, so that a larger family is never worse than the smaller one.
func optimizeUnderMinSep(ctx context.Context, h *mat.SymDense, schema participation.MinSep,
	f nestedFamily) ([]float64, int) {
	objective := func() *seriesObjective { return newSeriesObjective(h, schema, f.fresh(), false) }
	points, iterations := descendSeries(ctx, f.starts(schema.Separation()), minSepIterations, objective)
	var seeds [][]float64
	for _, p := range points[:min(len(points), minSepSeeds)] {
		seeds = append(seeds, p.x)
	}
	if smaller, widen := f.narrower(schema.Separation()); smaller != nil {
		x, made := optimizeUnderMinSep(ctx, h, schema, smaller)
		seeds, iterations = append(seeds, widen(x)), iterations+made
	}
	best, least := make([][]float64, len(seeds)), make([]float64, len(seeds))
	made := make([]int, len(seeds))
	parallel.For(len(seeds), func(i int) {
		o := &chainObjective{seriesObjective: objective(), schema: schema}
		best[i], least[i], made[i] = o.refine(ctx, seeds[i])
	})
	first := 0
	for i, loss := range least {
		iterations += made[i]
		if loss < least[first] {
			first = i
		}
	}
	return best[first], iterations
}

func (f freeSeries) starts(separation int) [][]float64 { return freeStarts(int(f), separation) }

func (f *inverseSeries) starts(int) [][]float64 { return inverseStarts(f.bands) }

// narrower leaves b coefficients, 2b, 4b and so on.
func (f freeSeries) narrower(separation int) (nestedFamily, func([]float64) []float64) {
	if int(f) <= separation {
		return nil, nil
	}
	width := separation
	for 2*width < int(f) {
		width *= 2
	}
	return freeSeries(width), padTo(f.dimension())
}

// narrower leaves 1, 2, 4, ... coefficients.
func (f *inverseSeries) narrower(int) (nestedFamily, func([]float64) []float64) {
	if f.bands == 1 {
		return nil, nil
	}
	width := 1
	for 2*width < f.bands {
		width *= 2
	}
	return &inverseSeries{bands: width, r: make([]float64, width)}, padTo(f.dimension())
}

func padTo(length int) func([]float64) []float64 {
	return func(x []float64) []float64 { return append(slices.Clone(x), make([]float64, length-len(x))...) }
}

// narrower takes a pair of poles away. It comes back with zeros in the same places, half way to the unit circle.
func (f *rationalSeries) narrower(int) (nestedFamily, func([]float64) []float64) {
	if f.buffers <= 2 {
		return nil, nil
	}
	return &rationalSeries{buffers: f.buffers - 2}, func(x []float64) []float64 {
		u := math.Atanh(0.25)
		return append([]float64{u, 0, u, 0}, x...)
	}
}

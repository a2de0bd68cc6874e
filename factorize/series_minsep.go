package factorize

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/participation"
)

// nestedFamily is a family that holds smaller ones.
type nestedFamily interface {
	family

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
	minSepIterations = 300 // of each descent, at most
)

// minSepSharpness returns the soft maxima that follow one another, for a sensitivity of about one.
func minSepSharpness() []float64 { return []float64{200, 3000, 40000} }

// underMinSep minimizes the loss over a family under min-sep, where neither are the patterns few enough to
// look at all of them, nor are those whose steps are exactly b apart the worst if coefficients from b on do not
// decrease. Descents of chainObjective, which bounds them all, start from the optimum of the next smaller family and
// from the best points of descents that look at steps exactly b apart. All of these are measured by the schema's own
// sensitivity, so that a larger family is never worse than the smaller one.
func (s *seriesSearch) underMinSep(ctx context.Context, h *mat.SymDense, f nestedFamily) *seriesPoint {
	schema := s.schema.(participation.MinSep)
	limit := s.options.limit(minSepIterations)
	response := seriesResponse(h)
	objective := func() *seriesObjective {
		return newSeriesObjective(h, schema, f.fresh(), false).withResponse(response)
	}
	seeds := s.descend(ctx, f.starts(schema.Separation()), limit, objective)
	seeds = seeds[:min(len(seeds), minSepSeeds)]
	if smaller, widen := f.narrower(schema.Separation()); smaller != nil {
		seeds = append(seeds, &seriesPoint{x: widen(s.underMinSep(ctx, h, smaller).x)})
	}
	s.round(seeds, func(p *seriesPoint) (int, float64) {
		o := &chainObjective{seriesObjective: objective(), schema: schema}
		var iterations int
		*p, iterations = o.refine(ctx, p.x, limit)
		return iterations, p.value
	})
	return slices.MinFunc(seeds, func(p, q *seriesPoint) int { return cmp.Compare(p.value, q.value) })
}

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

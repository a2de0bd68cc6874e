package factorize

import (
	"cmp"
	"context"
	"math"
	"slices"

	"mafalda/optim"
	"mafalda/participation"
)

// nestedFamily is a family that holds smaller ones.
type nestedFamily interface {
	family

	// narrower returns a smaller family and the map from its points to points of the same series; nil if no family is smaller.
	narrower(separation int) (smaller nestedFamily, widen func(x []float64) []float64)
}

var (
	_ nestedFamily = freeSeries{}
	_ nestedFamily = rationalSeries{}
)

const (
	minSepSeeds      = 2   // of the descents that only look at patterns whose steps are exactly b apart
	minSepIterations = 300 // of each descent, at most
)

// minSepSharpness returns the soft maxima that follow one another, for a sensitivity of about one.
func minSepSharpness() []float64 { return []float64{200, 3000, 40000} }

// minimizeMinSep minimizes the loss over a family under min-sep, where neither are the patterns few enough to
// look at all of them, nor are those whose steps are exactly b apart the worst if coefficients from b on do not
// decrease. Descents of chainObjective, which bounds them all, start from the optimum of the next smaller family and
// from the best points of descents that look at steps exactly b apart. All of these are measured by the schema's own
// sensitivity, so that a larger family is never worse than the smaller one.
func (s *seriesSearch) minimizeMinSep(ctx context.Context, response Response, f nestedFamily) *seriesPoint {
	schema := s.schema.(participation.MinSep)
	limit := s.options.limit(minSepIterations)
	seeds := s.qualify(ctx, pointsOf(f.starts(schema.Separation())), limit, func() optim.Objective {
		return newSeriesObjective(response, f, newPatternSums(schema), schema.Steps())
	})
	seeds = seeds[:min(len(seeds), minSepSeeds)]
	if smaller, widen := f.narrower(schema.Separation()); smaller != nil {
		seeds = append(seeds, &seriesPoint{x: widen(s.minimizeMinSep(ctx, response, smaller).x)})
	}
	s.round(seeds, func(p *seriesPoint) (int, float64) {
		var iterations int
		*p, iterations = refine(ctx, response, f, schema, p.x, limit)
		return iterations, p.value
	})
	return slices.MinFunc(seeds, func(p, q *seriesPoint) int { return cmp.Compare(p.value, q.value) })
}

// narrower leaves b coefficients, 2b, 4b and so on, or 1, 2, 4, ... of an inverse.
func (f freeSeries) narrower(separation int) (nestedFamily, func([]float64) []float64) {
	width := separation
	if f.inverse {
		width = 1
	}
	if f.bands <= width {
		return nil, nil
	}
	for 2*width < f.bands {
		width *= 2
	}
	return freeSeries{bands: width, inverse: f.inverse}, func(x []float64) []float64 {
		return append(slices.Clone(x), make([]float64, f.dimension()-len(x))...)
	}
}

// narrower takes a pair of poles away. It comes back with zeros in the same places, half way to the unit circle.
func (f rationalSeries) narrower(int) (nestedFamily, func([]float64) []float64) {
	if f.buffers <= 2 {
		return nil, nil
	}
	return rationalSeries{buffers: f.buffers - 2}, func(x []float64) []float64 {
		u := math.Atanh(0.25)
		return append([]float64{u, 0, u, 0}, x...)
	}
}

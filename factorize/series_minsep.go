package factorize

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

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
	minSepSeeds = 2   // of the descents that only look at patterns whose steps are exactly b apart
	minSepCuts  = 10  // worst patterns that are added
	minSepPower = 400 // of the norm that stands for the maximum over patterns
)

// optimizeUnderMinSep minimizes the loss over a family under min-sep, where neither are the patterns few enough to look at all
// of them, nor are those whose steps are exactly b apart the worst if coefficients from b on do not decrease. It measures
// every candidate by the schema's own bound. Candidates are the optimum of the next smaller family, so that a larger one is
// never worse; the best points of descents that look at steps exactly b apart; and what two descents make of each of these:
//
//   - the worst pattern that the schema's bound finds is added to the patterns that are looked at, and the descent repeated,
//     as long as there are new ones (cutting planes);
//   - the sensitivity is that of the envelope of the series, which has only one worst pattern and bounds the true one.
func optimizeUnderMinSep(ctx context.Context, h *mat.SymDense, schema participation.MinSep, f nestedFamily, limit int) ([]float64, int) {
	objective := func() *seriesObjective { return newSeriesObjective(h, schema, f.fresh(), false) }
	starts := f.starts(schema.Separation())
	var seeds [][]float64
	iterations := 0
	if smaller, widen := f.narrower(schema.Separation()); smaller != nil {
		x, made := optimizeUnderMinSep(ctx, h, schema, smaller, limit)
		seeds, iterations = append(seeds, widen(x)), made
	}
	points, made := descendSeries(ctx, clonePoints(starts), limit, objective)
	iterations += made
	for _, p := range points[:min(len(points), minSepSeeds)] {
		seeds = append(seeds, p.x)
	}
	best, least := seeds[0], math.Inf(1)
	try := func(o *seriesObjective, x []float64) []int {
		loss, pattern := o.trueLoss(x, schema)
		if loss < least {
			best, least = slices.Clone(x), loss
		}
		return pattern
	}
	for _, seed := range seeds {
		try(objective(), seed)
	}
	enveloped := append(clonePoints(seeds), clonePoints(starts)...)
	points, made = descendSeries(ctx, enveloped, limit, func() *seriesObjective {
		o := objective()
		o.enveloped, o.patterns, o.sums = true, o.patterns[:1], o.sums[:1]
		return o
	})
	iterations += made
	try(objective(), points[0].x)
	for _, x := range append(clonePoints(seeds), slices.Clone(best)) {
		o := objective()
		o.power = minSepPower
		for range minSepCuts {
			pattern := try(o, x)
			known := slices.ContainsFunc(o.patterns, func(p []int) bool { return slices.Equal(p, pattern) })
			if known && o.power > minSepPower || ctx.Err() != nil {
				break
			}
			if known { // all that count are there: a sharper maximum
				o.power *= 10
			} else {
				o.patterns, o.sums = append(o.patterns, pattern), append(o.sums, 0)
			}
			iterations += o.descend(ctx, x, limit).Iterations
		}
		try(o, x)
	}
	return best, iterations
}

func clonePoints(points [][]float64) [][]float64 {
	clones := make([][]float64, len(points))
	for i, p := range points {
		clones[i] = slices.Clone(p)
	}
	return clones
}

// trueLoss returns the loss of x by the schema's own bound of the sensitivity, up to rounding, and its worst pattern; +Inf
// outside the domain.
func (o *seriesObjective) trueLoss(x []float64, schema participation.Schema) (float64, []int) {
	if math.IsInf(o.Value(x), 0) {
		return math.Inf(1), nil
	}
	sens, err := schema.Sensitivity(seriesGram(o.c[:o.bands], o.steps))
	if err != nil {
		return math.Inf(1), nil
	}
	return o.error * o.d[0] * o.d[0] * sens.Squared, sens.Pattern // error is that of unit sensitivity
}

// seriesGram returns CᵀC of the Toeplitz strategy of T = steps with coefficients c, by its diagonals.
func seriesGram(c []float64, steps int) *mat.SymDense {
	x := mat.NewSymDense(steps, nil)
	for lag := range min(len(c), steps) {
		var sum float64
		for t := steps - 1; t >= lag; t-- { // one more row that both columns have
			if i := steps - 1 - t; i+lag < len(c) {
				sum += c[i] * c[i+lag]
			}
			x.SetSym(t-lag, t, sum)
		}
	}
	return x
}

func (f freeSeries) starts(separation int) [][]float64 { return freeStarts(int(f), separation) }

func (f *inverseSeries) starts(int) [][]float64 { return inverseStarts(f.bands) }

// Families are nested in single coefficients up to so many, and beyond it in doublings.
const singleSteps = 8

// narrower takes coefficients away, but for the first b.
func (f freeSeries) narrower(separation int) (nestedFamily, func([]float64) []float64) {
	width := int(f) - 1
	if int(f) > separation+singleSteps {
		for width = separation + singleSteps; 2*width < int(f); width *= 2 {
		}
	}
	if int(f) <= separation {
		return nil, nil
	}
	return freeSeries(width), padTo(f.dimension())
}

// narrower takes coefficients away.
func (f *inverseSeries) narrower(int) (nestedFamily, func([]float64) []float64) {
	width := f.bands - 1
	if f.bands > singleSteps {
		for width = singleSteps; 2*width < f.bands; width *= 2 {
		}
	}
	if width < 1 {
		return nil, nil
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

package factorize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"mafalda/internal/parallel"
	"mafalda/internal/series"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// Response is the squared error of Toeplitz strategies as a function of the T coefficients r of C⁻¹, and its derivative, such
// as workload.Response.
type Response interface {
	Error(grad, r []float64) float64
}

// Responses returns the response for a number of steps up to T. A rough one will do for a search: what is reported is measured
// with one that is not.
type Responses func(steps int, rough bool) (Response, error)

// longFamily is a set of pairs of series c and r = 1/c, c_0 = 1.
type longFamily interface {
	dimension() int
	seriesTo(c, r, x []float64) bool // all T coefficients; false outside the domain
	pullTo(dst, gc, gr []float64)    // the gradient by x at the last seriesTo, from those by c and r, which it may overwrite
}

// longObjective is the logarithm of majorant times error.
type longObjective struct {
	schema      participation.Cyclic
	response    Response
	family      longFamily
	c, r        []float64
	gc, gr      []float64
	sens, error float64
}

func newLongObjective(schema participation.Cyclic, response Response, f longFamily) *longObjective {
	make1 := func() []float64 { return make([]float64, schema.Steps()) }
	return &longObjective{schema: schema, response: response, family: f, c: make1(), r: make1(), gc: make1(), gr: make1()}
}

// Value returns the logarithm of the loss. The gradient by r comes with it.
func (o *longObjective) Value(x []float64) float64 {
	if !o.family.seriesTo(o.c, o.r, x) {
		return math.Inf(1)
	}
	o.sens = majorant(o.c, o.schema, nil)
	o.error = o.response.Error(o.gr, o.r)
	if !(o.error > 0) || !(o.sens > 0) || math.IsInf(o.error*o.sens, 1) {
		return math.Inf(1)
	}
	return math.Log(o.sens) + math.Log(o.error)
}

// GradientTo writes the gradient of Value at its last point.
func (o *longObjective) GradientTo(dst []float64) {
	clear(o.gc)
	majorant(o.c, o.schema, o.gc)
	for t := range o.gc {
		o.gc[t] /= o.sens
		o.gr[t] /= o.error
	}
	o.family.pullTo(dst, o.gc, o.gr)
}

// The horizons at which long strategies are optimized: from some thousand steps, ever longer ones.
const (
	firstHorizon  = 1024
	horizonGrowth = 8
	firstDescent  = 60 // iterations from every start, at the first horizon
	laterDescent  = 200
	keptStarts    = 3
)

// horizons returns the numbers of steps to optimize for, the last of which is T: whole periods of b.
func horizons(schema participation.Cyclic) []int {
	b := schema.Separation()
	var all []int
	for t := max(firstHorizon, 2*b); t < schema.Steps()/2; t *= horizonGrowth {
		all = append(all, t/b*b)
	}
	return append(all, schema.Steps())
}

// optimizeLong descends at ever longer horizons, with fewer and fewer of the starts.
func optimizeLong(ctx context.Context, responses Responses, schema participation.Schema, family func() longFamily, starts [][]float64) (x []float64, iterations int, err error) {
	cyclic, ok := schema.(participation.Cyclic)
	if !ok {
		return nil, 0, fmt.Errorf("more than %d steps under %s participation: %w", LongSteps, schema.Name(), ErrUnsupported)
	}
	var points []*seriesPoint
	for _, s := range starts {
		points = append(points, &seriesPoint{x: slices.Clone(s)})
	}
	for i, steps := range horizons(cyclic) {
		response, err := responses(steps, true)
		if err != nil {
			return nil, 0, err
		}
		s := cyclic
		if steps < cyclic.Steps() {
			k := min(cyclic.Participations(), (steps-1)/cyclic.Separation()+1)
			if s, err = participation.NewCyclic(steps, k, min(cyclic.Separation(), steps)); err != nil {
				return nil, 0, err
			}
		}
		most := laterDescent
		if i == 0 && len(points) > keptStarts {
			most = firstDescent
		}
		enough := 1e-10 // of the logarithm of the loss
		if steps < cyclic.Steps() {
			enough = 1e-7
		}
		made := make([]int, len(points))
		parallel.For(len(points), func(i int) {
			o := newLongObjective(s, response, family())
			ended := optim.Minimize(ctx, o, points[i].x, optim.Options{Memory: 20, MaxIterations: most, Done: func(it optim.Iteration) bool {
				return it.Count > 0 && it.Decrease < enough
			}})
			points[i].value, made[i] = ended.Value, ended.Iterations
		})
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
		for _, n := range made {
			iterations += n
		}
		slices.SortStableFunc(points, func(p, q *seriesPoint) int { return cmp.Compare(p.value, q.value) })
		points = points[:min(len(points), max(1, keptStarts-i))]
	}
	if v := points[0].value; math.IsInf(v, 0) || math.IsNaN(v) {
		return nil, 0, errors.New("no start has a finite loss")
	}
	return points[0].x, iterations, nil
}

// longResult normalizes and measures a strategy.
func longResult(s strategy.Strategy, responses Responses, schema participation.Schema, starts, iterations int) (*SeriesResult, error) {
	normalized, err := Normalize(s, schema)
	if err != nil {
		return nil, err
	}
	q, err := EvaluateLong(normalized, responses, schema)
	return &SeriesResult{normalized, q, starts, iterations}, err
}

// EvaluateLong is Evaluate for Toeplitz strategies of any number of steps, without anything of size T×T.
func EvaluateLong(s strategy.Strategy, responses Responses, schema participation.Schema) (Quality, error) {
	r, ok := strategy.InverseSeriesOf(s)
	if !ok {
		return Quality{}, fmt.Errorf("no Toeplitz strategy: %w for many steps", ErrUnsupported)
	}
	sens, err := Sensitivity(s, schema)
	if err != nil {
		return Quality{}, err
	}
	response, err := responses(s.Steps(), false)
	if err != nil {
		return Quality{}, err
	}
	squared := response.Error(nil, r)
	q := Quality{Sensitivity: sens, SquaredError: squared, Loss: sens.Squared * squared}
	if q.Loss-q.Loss != 0 || q.Loss <= 0 {
		return Quality{}, fmt.Errorf("loss of the strategy is %v: its entries are out of range", q.Loss)
	}
	return q, nil
}

// OptimizeLongBLT is OptimizeBLT for any number of steps, under cyclic participation. The loss is that of the majorant of
// the sensitivity, which is exact where no coefficient of C is negative.
func OptimizeLongBLT(ctx context.Context, responses Responses, schema participation.Schema, buffers int) (*SeriesResult, error) {
	if buffers < 1 || buffers >= max(schema.Steps(), 2) {
		return nil, fmt.Errorf("%d buffers: must be at least 1 and less than T = %d", buffers, schema.Steps())
	}
	f := rationalSeries{buffers: buffers}
	starts := f.starts(schema.Separation())
	x, iterations, err := optimizeLong(ctx, responses, schema, func() longFamily { return &longRational{rational: rationalSeries{buffers: buffers}} }, starts)
	if err != nil {
		return nil, err
	}
	s, err := strategy.NewBLT(schema.Steps(), 1, f.sectionsOf(x))
	if err != nil {
		return nil, fmt.Errorf("strategy of the optimum: %w", err)
	}
	return longResult(s, responses, schema, len(starts), iterations)
}

// OptimizeLongToeplitz is OptimizeToeplitz for any number of steps, under cyclic participation and without column scales;
// the bandwidth must be given. O(T·bandwidth) an evaluation. See OptimizeLongBLT.
func OptimizeLongToeplitz(ctx context.Context, responses Responses, schema participation.Schema, bands int) (*SeriesResult, error) {
	if err := strategy.CheckBandwidth(bands, schema.Steps()); err != nil {
		return nil, err
	}
	starts := freeStarts(bands, schema.Separation())
	x, iterations, err := optimizeLong(ctx, responses, schema, func() longFamily { return &longFree{bands: bands} }, starts)
	if err != nil {
		return nil, err
	}
	s, err := strategy.NewToeplitz(schema.Steps(), append([]float64{1}, x...), nil)
	if err != nil {
		return nil, fmt.Errorf("strategy of the optimum: %w", err)
	}
	return longResult(s, responses, schema, len(starts), iterations)
}

// OptimizeLongBandedInverse is OptimizeBandedInverse for any number of steps, under cyclic participation. O(T·bands) an
// evaluation. See OptimizeLongBLT.
func OptimizeLongBandedInverse(ctx context.Context, responses Responses, schema participation.Schema, bands int) (*SeriesResult, error) {
	if err := strategy.CheckBandwidth(bands, schema.Steps()); err != nil {
		return nil, err
	}
	starts := inverseStarts(bands)
	x, iterations, err := optimizeLong(ctx, responses, schema, func() longFamily { return &longFree{bands: bands, inverse: true} }, starts)
	if err != nil {
		return nil, err
	}
	s, err := strategy.NewBandedInverse(schema.Steps(), append([]float64{1}, x...))
	if err != nil {
		return nil, fmt.Errorf("strategy of the optimum: %w", err)
	}
	return longResult(s, responses, schema, len(starts), iterations)
}

// longRational is rationalSeries with 1/c, whose poles are the zeros of c.
type longRational struct {
	rational rationalSeries
	r        []float64
}

func (f *longRational) dimension() int { return f.rational.dimension() }

func (f *longRational) seriesTo(c, r, x []float64) bool {
	if !f.rational.seriesTo(c, x) {
		return false
	}
	clear(r)
	r[0] = 1
	for _, s := range f.rational.sectionsOf(x) {
		s.Inverse().Multiply(r)
	}
	f.r = append(f.r[:0], r...)
	return allFinite(r)
}

func (f *longRational) pullTo(dst, gc, gr []float64) {
	f.rational.pullTo(dst, gc)
	inverse := rationalSeries{buffers: f.rational.buffers, x: swapRoots(f.rational.x), c: f.r}
	other := make([]float64, len(dst))
	inverse.pullTo(other, gr)
	for i, v := range swapRoots(other) {
		dst[i] += v
	}
}

// swapRoots exchanges the parameters of poles and zeros.
func swapRoots(x []float64) []float64 {
	y := make([]float64, len(x))
	i := 0
	for ; i+4 <= len(x); i += 4 {
		copy(y[i:], []float64{x[i+2], x[i+3], x[i], x[i+1]})
	}
	if i < len(x) { // a single pole
		y[i], y[i+1] = x[i+1], x[i]
	}
	return y
}

// longFree is the family of series c of so many coefficients, or of r = 1/c.
type longFree struct {
	bands   int
	inverse bool
	short   []float64 // the one with few coefficients
}

func (f *longFree) dimension() int { return f.bands - 1 }

func (f *longFree) seriesTo(c, r, x []float64) bool {
	if f.inverse {
		c, r = r, c
	}
	clear(c)
	c[0] = 1
	copy(c[1:], x)
	f.short = append(f.short[:0], c[:f.bands]...)
	copy(r, series.Invert(f.short, len(r)))
	return allFinite(r)
}

// pullTo uses dr = -r*r*dc: the transposed filters 1/c, twice.
func (f *longFree) pullTo(dst, gc, gr []float64) {
	if f.inverse {
		gc, gr = gr, gc
	}
	for range 2 {
		for j := len(gr) - 1; j >= 0; j-- {
			for i := 1; i < f.bands && j+i < len(gr); i++ {
				gr[j] -= f.short[i] * gr[j+i]
			}
		}
	}
	for j := range dst {
		dst[j] = gc[j+1] - gr[j+1]
	}
}

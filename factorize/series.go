package factorize

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/parallel"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// family is a set of Toeplitz strategies with parameters: a map from points x to power series c with c_0 = 1.
type family interface {
	dimension() int
	seriesTo(c, x []float64) bool // writes len(c) coefficients; false outside the domain
	pullTo(dst, gc []float64)     // the gradient by x at the last seriesTo, from the gradient by c
	fresh() family                // the same family, for another goroutine
}

// seriesOptimum is the best point of a family.
type seriesOptimum struct {
	parameters         []float64
	strategy           *strategy.Toeplitz // not normalized
	starts, iterations int
}

type seriesPoint struct {
	x     []float64
	value float64
}

// With more starting points than finalists each gets a few qualifying iterations, and the best ones go on.
const (
	finalists  = 5
	qualifying = 80
)

// optimizeSeries minimizes the loss over a family from several starting points.
func optimizeSeries(ctx context.Context, h *mat.SymDense, schema participation.Schema, f family, starts [][]float64, opts ToeplitzOptions) (*seriesOptimum, error) {
	steps := schema.Steps()
	if h.SymmetricDim() != steps {
		return nil, fmt.Errorf("schema of %d steps for a Gram matrix of %d", steps, h.SymmetricDim())
	}
	if opts.ScaleColumns && !participation.IsPartition(schema) {
		return nil, fmt.Errorf("column scaling: %w under %s participation, whose patterns overlap", ErrUnsupported, schema.Name())
	}
	scaled, _, err := scaleToUnit(h)
	if err != nil {
		return nil, err
	}
	if opts.MaxIterations == 0 {
		opts.MaxIterations = 2000
	}
	best := &seriesOptimum{starts: len(starts)}
	var x []float64
	if s, ok := schema.(participation.MinSep); ok && !participation.IsPartition(s) {
		x, best.iterations = optimizeUnderMinSep(ctx, scaled, s, f.(nestedFamily))
	} else {
		points := make([][]float64, len(starts))
		for i, start := range starts {
			points[i] = append([]float64(nil), start...)
			if opts.ScaleColumns {
				for s := range steps {
					points[i] = append(points[i], math.Log(scaled.At(s, s))/4)
				}
			}
		}
		descended, iterations := descendSeries(ctx, points, opts.MaxIterations, func() *seriesObjective {
			return newSeriesObjective(scaled, schema, f.fresh(), opts.ScaleColumns)
		})
		x, best.iterations = descended[0].x, iterations
	}
	o := newSeriesObjective(scaled, schema, f, opts.ScaleColumns)
	if value := o.Value(x); math.IsInf(value, 0) || math.IsNaN(value) {
		return nil, fmt.Errorf("%w: no start has a finite loss", ErrGram)
	}
	best.parameters = x[:f.dimension()]
	var columns []float64
	if opts.ScaleColumns {
		columns = o.d
	}
	if best.strategy, err = strategy.NewToeplitz(steps, o.c[:o.bands], columns); err != nil {
		return nil, fmt.Errorf("strategy of the optimum: %w", err)
	}
	return best, nil
}

// descendSeries minimizes the objective from each of the points, which it changes, and returns the finalists, best
// first, and the number of iterations over all.
func descendSeries(ctx context.Context, starts [][]float64, limit int, objective func() *seriesObjective) ([]*seriesPoint, int) {
	points := make([]*seriesPoint, len(starts))
	for i, x := range starts {
		points[i] = &seriesPoint{x: x}
	}
	total := 0
	descend := func(iterations int) {
		made := make([]int, len(points))
		parallel.For(len(points), func(i int) {
			ended := objective().descend(ctx, points[i].x, iterations)
			points[i].value, made[i] = ended.Value, ended.Iterations
		})
		for _, n := range made {
			total += n
		}
		slices.SortStableFunc(points, func(p, q *seriesPoint) int { return cmp.Compare(p.value, q.value) })
	}
	if len(points) > finalists {
		descend(qualifying)
		points = points[:finalists]
	}
	descend(limit)
	return points, total
}

// descend minimizes from x, and leaves the minimum there.
func (o *seriesObjective) descend(ctx context.Context, x []float64, iterations int) optim.Result {
	done := func(it optim.Iteration) bool { return it.Count > 0 && it.Decrease < 1e-13 }
	return optim.Minimize(ctx, o, x, optim.Options{Memory: 20, MaxIterations: iterations, Done: done})
}

// SeriesResult is the end of an optimization over Toeplitz strategies of some family.
type SeriesResult struct {
	Strategy strategy.Strategy // sens² ≤ 1, up to rounding equal
	Quality
	Starts     int // starting points tried
	Iterations int // over all of them
}

// result normalizes and measures c, which is the strategy of the optimum.
func (b *seriesOptimum) result(
	c strategy.Strategy, h *mat.SymDense, schema participation.Schema,
) (*SeriesResult, error) {
	normalized, err := Normalize(c, schema)
	if err != nil {
		return nil, err
	}
	q, err := Evaluate(normalized, h, schema)
	return &SeriesResult{normalized, q, b.starts, b.iterations}, err
}

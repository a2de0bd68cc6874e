package factorize

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"mafalda/internal/lists"
	"mafalda/internal/parallel"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// family is a set of Toeplitz strategies with parameters: a map from points x to power series c, c_0 = 1, and r = 1/c.
type family interface {
	dimension() int
	starts(separation int) [][]float64
	seriesTo(c, r, x []float64) pull // writes all coefficients of both; nil outside the domain

	// strategy makes the strategy of a point and of the scales of columns, nil if there are none.
	strategy(steps int, x, columns []float64) (strategy.Strategy, error)
}

// pull writes the gradient by x, from those by c and r, which it may overwrite, as long as c and r are those of x.
type pull func(dst, gc, gr []float64)

// seriesSearch finds the best point of a family: what classes of Toeplitz strategies share.
type seriesSearch struct {
	schema  participation.Schema
	family  family
	scaled  bool // columns are scaled, too
	options Options

	unit   float64 // unit of losses in the search
	rounds rounds
}

// optimizeSeries returns the best strategy found in a family, normalized and measured.
func optimizeSeries(ctx context.Context, o Objective, schema participation.Schema, opts Options, f family,
	scaled bool) (*Result, error) {
	s := &seriesSearch{schema: schema, family: f, scaled: scaled, options: opts, unit: 1,
		rounds: rounds{progress: opts.Progress}}
	find := s.search
	if o.kind == ManySteps {
		find = s.searchLong
	}
	best, columns, err := find(ctx, o)
	if err != nil {
		return nil, err
	}
	if math.IsInf(best.value, 0) || math.IsNaN(best.value) {
		return nil, fmt.Errorf("%w: no start has a finite loss", ErrGram)
	}
	c, err := f.strategy(schema.Steps(), best.x[:f.dimension()], columns)
	if err != nil {
		return nil, fmt.Errorf("strategy of the optimum: %w", err)
	}
	r := &Result{Gap: math.Inf(1), Iterations: s.rounds.iterations, Status: best.status}
	if err := r.take(c, o, schema); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		r.Status = optim.Interrupted
	}
	return r, nil
}

// With more starting points than finalists each gets a few qualifying iterations, and the best ones go on.
const (
	finalists  = 8
	qualifying = 80
)

// search minimizes the loss over the family from all starts, and returns the scales of columns, too, if they are
// wanted.
func (s *seriesSearch) search(ctx context.Context, o Objective) (*seriesPoint, []float64, error) {
	scaled, unit, err := scaleToUnit(o.gram)
	if err != nil {
		return nil, nil, err
	}
	s.unit = unit
	starts := pointsOf(s.family.starts(s.schema.Separation()))
	if s.scaled {
		for _, p := range starts {
			for t := range s.schema.Steps() { // guesses of the scales
				p.x = append(p.x, math.Log(scaled.At(t, t))/4)
			}
		}
		best := s.qualify(ctx, starts, s.options.limit(2000), func() optim.Objective { return newColumnsObjective(scaled, s.schema, s.family) })[0]
		at := newColumnsObjective(scaled, s.schema, s.family)
		at.Value(best.x)
		return best, at.d, nil
	}
	response := newGramResponse(scaled)
	if nested, ok := s.family.(nestedFamily); ok && minSep(s.schema) && !participation.IsPartition(s.schema) {
		return s.minimizeMinSep(ctx, response, nested), nil, nil
	}
	return s.qualify(ctx, starts, s.options.limit(2000), func() optim.Objective {
		return newSeriesObjective(response, s.family, newPatternSums(s.schema), s.schema.Steps())
	})[0], nil, nil
}

// seriesPoint is where a descent is, or has ended.
type seriesPoint struct {
	x      []float64
	value  float64 // what the descent makes small
	status optim.Status
}

func pointsOf(starts [][]float64) []*seriesPoint {
	return lists.Map(starts, func(x []float64) *seriesPoint { return &seriesPoint{x: x} })
}

// qualify minimizes an objective from points, and returns the finalists, best first.
func (s *seriesSearch) qualify(ctx context.Context, points []*seriesPoint, limit int, objective func() optim.Objective) []*seriesPoint {
	const enough = 1e-13
	if len(points) > finalists {
		points = s.descend(ctx, points, s.options.limit(qualifying), enough, objective)[:finalists]
	}
	return s.descend(ctx, points, limit, enough, objective)
}

// descend makes at most a number of iterations from each of the points, which it changes and sorts, best first; a decrease below
// enough ends a descent.
func (s *seriesSearch) descend(ctx context.Context, points []*seriesPoint, iterations int, enough float64,
	objective func() optim.Objective) []*seriesPoint {
	s.round(points, func(p *seriesPoint) (int, float64) {
		ended := minimize(ctx, objective(), p.x, iterations, enough)
		p.value, p.status = ended.Value, ended.Status
		return ended.Iterations, math.Exp(ended.Value)
	})
	slices.SortStableFunc(points, func(p, q *seriesPoint) int { return cmp.Compare(p.value, q.value) })
	return points
}

// round descends from all points, side by side, with a function that returns its iterations and the loss at its end.
func (s *seriesSearch) round(points []*seriesPoint, descend func(p *seriesPoint) (iterations int, loss float64)) {
	s.rounds.begin(len(points))
	parallel.For(len(points), func(i int) {
		made, loss := descend(points[i])
		s.rounds.countDescent(made, loss*s.unit)
	})
}

// minimize descends from x, and leaves the minimum there.
func minimize(ctx context.Context, o optim.Objective, x []float64, iterations int, enough float64) optim.Result {
	done := func(it optim.Iteration) bool { return it.Count > 0 && it.Decrease < enough }
	return optim.Minimize(ctx, o, x, optim.Options{Memory: 20, MaxIterations: iterations, Done: done})
}

// The horizons at which long strategies are optimized: from some thousand steps, ever longer ones.
const (
	firstHorizon  = 1024
	horizonGrowth = 8
	firstDescent  = 60 // iterations from every start, at the first horizon
	laterDescent  = 200
	keptStarts    = 3
)

// horizons returns the schemas to optimize for, the last of which is the whole: of whole periods of b, and at least as
// many steps as there are coefficients.
func horizons(whole participation.Cyclic, coefficients int) (all []participation.Cyclic, err error) {
	b := whole.Separation()
	for t := max(firstHorizon, 2*b, coefficients+b); t < whole.Steps()/2; t *= horizonGrowth {
		steps := t / b * b
		schema, err := participation.NewCyclic(steps, min(whole.Participations(), steps/b), b)
		if err != nil {
			return nil, err
		}
		all = append(all, schema)
	}
	return append(all, whole), nil
}

// searchLong descends at ever longer horizons, with fewer and fewer of the starts.
func (s *seriesSearch) searchLong(ctx context.Context, o Objective) (*seriesPoint, []float64, error) {
	points := pointsOf(s.family.starts(s.schema.Separation()))
	all, err := horizons(s.schema.(participation.Cyclic), s.family.dimension()+1)
	if err != nil {
		return nil, nil, err
	}
	for i, schema := range all {
		response, err := o.responses(schema.Steps(), true)
		if err != nil {
			return nil, nil, err
		}
		most, enough := s.options.limit(laterDescent), 1e-7
		if i == 0 && len(points) > keptStarts {
			most = s.options.limit(firstDescent)
		}
		if schema.Steps() == s.schema.Steps() {
			enough = 1e-10
		}
		points = s.descend(ctx, points, most, enough, func() optim.Objective {
			return newSeriesObjective(response, s.family, &cyclicSum{schema: schema}, schema.Steps())
		})
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		points = points[:min(len(points), max(1, keptStarts-i))]
	}
	return points[0], nil, nil
}

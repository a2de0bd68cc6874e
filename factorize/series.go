package factorize

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/lists"
	"mafalda/internal/parallel"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// family is a set of Toeplitz strategies with parameters: a map from points x to power series c with c_0 = 1.
type family interface {
	dimension() int
	starts(separation int) [][]float64
	seriesTo(c, x []float64) bool // writes len(c) coefficients; false outside the domain
	pullTo(dst, gc []float64)     // the gradient by x at the last seriesTo, from the gradient by c
	fresh() family                // the same family, for another goroutine
}

// inverter is a family that knows 1/c without dividing.
type inverter interface {
	inverseTo(r []float64) // all T coefficients of 1/c at the last seriesTo
}

var (
	_ inverter = (*rationalSeries)(nil)
	_ inverter = (*inverseSeries)(nil)
)

// seriesSearch finds the best point of a family, with matrices or without: what classes of Toeplitz strategies share.
type seriesSearch struct {
	schema  participation.Schema
	family  family
	long    func() longFamily // the same family, with 1/c
	scaled  bool              // columns, too
	options Options

	// strategy makes the strategy of a point and of the scales of columns, nil if there are none.
	strategy func(x, columns []float64) (strategy.Strategy, error)

	unit   float64 // of losses in the search
	rounds rounds
}

// optimize returns the best strategy found, normalized and measured.
func (s *seriesSearch) optimize(ctx context.Context, o Objective) (*Result, error) {
	s.unit, s.rounds.progress = 1, s.options.Progress
	find := s.search
	if o.kind == ManySteps {
		find = s.searchLong
	}
	best, columns, err := find(ctx, o)
	if err != nil {
		return nil, err
	}
	c, err := s.strategy(best.x[:s.family.dimension()], columns)
	if err != nil {
		return nil, fmt.Errorf("strategy of the optimum: %w", err)
	}
	r := &Result{Gap: math.Inf(1), Iterations: s.rounds.iterations, Status: best.status}
	if r.Strategy, err = strategy.Normalize(c, s.schema); err != nil {
		return nil, err
	}
	if r.Quality, err = Evaluate(r.Strategy, o, s.schema); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		r.Status = optim.Interrupted
	}
	return r, nil
}

// search minimizes the loss over the family from all starts, and returns the scales of columns, too, if they are
// wanted.
func (s *seriesSearch) search(ctx context.Context, o Objective) (*seriesPoint, []float64, error) {
	scaled, unit, err := scaleToUnit(o.gram)
	if err != nil {
		return nil, nil, err
	}
	s.unit = unit
	var best *seriesPoint
	if nested, ok := s.family.(nestedFamily); ok && minSep(s.schema) && !participation.IsPartition(s.schema) {
		best = s.underMinSep(ctx, scaled, nested)
	} else {
		objective := func() *seriesObjective {
			return newSeriesObjective(scaled, s.schema, s.family.fresh(), s.scaled)
		}
		if of := objective; !s.scaled {
			response := seriesResponse(scaled)
			objective = func() *seriesObjective { return of().withResponse(response) }
		}
		best = s.descend(ctx, s.startingPoints(scaled), s.options.limit(2000), objective)[0]
	}
	at := newSeriesObjective(scaled, s.schema, s.family, s.scaled)
	if value := at.Value(best.x); math.IsInf(value, 0) || math.IsNaN(value) {
		return nil, nil, fmt.Errorf("%w: no start has a finite loss", ErrGram)
	}
	if s.scaled {
		return best, at.d, nil
	}
	return best, nil, nil
}

// startingPoints returns the starts with guesses of the scales.
func (s *seriesSearch) startingPoints(h *mat.SymDense) [][]float64 {
	points := s.family.starts(s.schema.Separation())
	if s.scaled {
		for i := range points {
			for t := range s.schema.Steps() {
				points[i] = append(points[i], math.Log(h.At(t, t))/4)
			}
		}
	}
	return points
}

// seriesPoint is where a descent is, or has ended.
type seriesPoint struct {
	x      []float64
	value  float64 // what the descent makes small
	status optim.Status
}

// With more starting points than finalists each gets a few qualifying iterations, and the best ones go on.
const (
	finalists  = 5
	qualifying = 80
)

// descend minimizes the objective from each of the points, which it changes, and returns the finalists, best first.
func (s *seriesSearch) descend(
	ctx context.Context, starts [][]float64, limit int, objective func() *seriesObjective,
) []*seriesPoint {
	points := lists.Map(starts, func(x []float64) *seriesPoint { return &seriesPoint{x: x} })
	round := func(iterations int) {
		s.round(points, func(p *seriesPoint) (int, float64) {
			ended := objective().descend(ctx, p.x, iterations)
			p.value, p.status = ended.Value, ended.Status
			return ended.Iterations, math.Exp(ended.Value)
		})
		slices.SortStableFunc(points, func(p, q *seriesPoint) int { return cmp.Compare(p.value, q.value) })
	}
	if len(points) > finalists {
		round(s.options.limit(qualifying))
		points = points[:finalists]
	}
	round(limit)
	return points
}

// round descends from all points, side by side, with a function that makes so many iterations down to some loss.
func (s *seriesSearch) round(points []*seriesPoint, descend func(p *seriesPoint) (iterations int, loss float64)) {
	s.rounds.begin(len(points))
	parallel.For(len(points), func(i int) {
		made, loss := descend(points[i])
		s.rounds.countDescent(made, loss*s.unit)
	})
}

// descend minimizes from x, and leaves the minimum there.
func (o *seriesObjective) descend(ctx context.Context, x []float64, iterations int) optim.Result {
	done := func(it optim.Iteration) bool { return it.Count > 0 && it.Decrease < 1e-13 }
	return optim.Minimize(ctx, o, x, optim.Options{Memory: 20, MaxIterations: iterations, Done: done})
}

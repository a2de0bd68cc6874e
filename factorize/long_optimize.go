package factorize

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/lists"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// Response is the squared error of Toeplitz strategies as a function of the T coefficients r of C⁻¹, and its
// derivative, such as workload.Response; and Q of strategies with scaled columns, for so many scales: the squared error
// of C⁻¹[t,s] = (e_0 + e_1 t/T + …)·r_(t-s) is eᵀQe.
type Response interface {
	Error(grad, r []float64) float64
	Columns(r []float64, size int) (*mat.SymDense, error)
}

// Responses returns the response for a number of steps up to T. A rough one will do for a search: what is reported is
// measured with one that is not.
type Responses func(steps int, rough bool) (Response, error)

// mostSearchProducts is how many products of coefficients a step of a search is worth; for more it makes the majorant
// small.
const mostSearchProducts = 5e7

// longObjective is the logarithm of a bound of sens² times error.
type longObjective struct {
	schema      participation.Cyclic
	response    Response
	family      longFamily
	c, r        []float64
	support     []float64 // c without the zeros behind
	gc, gr      []float64
	sens, error float64
	first       int // step of the pattern whose sum of magnitudes sens is; -1: it is the majorant
}

func newLongObjective(schema participation.Cyclic, response Response, f longFamily) *longObjective {
	o := &longObjective{schema: schema, response: response, family: f}
	for _, series := range []*[]float64{&o.c, &o.r, &o.gc, &o.gr} {
		*series = make([]float64, schema.Steps())
	}
	return o
}

// Value returns the logarithm of the loss. The gradient by r comes with it.
func (o *longObjective) Value(x []float64) float64 {
	if !o.family.seriesTo(o.c, o.r, x) {
		return math.Inf(1)
	}
	o.support = o.c
	for len(o.support) > 1 && o.support[len(o.support)-1] == 0 {
		o.support = o.support[:len(o.support)-1]
	}
	if o.first = -1; strategy.SumProducts(o.support, o.schema) <= mostSearchProducts {
		o.sens, o.first = strategy.ToeplitzSum(o.support, o.schema)
	} else {
		o.sens = strategy.ToeplitzMajorant(o.c, o.schema, nil)
	}
	o.error = o.response.Error(o.gr, o.r)
	if !(o.error > 0) || !(o.sens > 0) || math.IsInf(o.error*o.sens, 1) {
		return math.Inf(1)
	}
	return math.Log(o.sens) + math.Log(o.error)
}

// GradientTo writes the gradient of Value at its last point.
func (o *longObjective) GradientTo(dst []float64) {
	clear(o.gc)
	if o.first >= 0 {
		strategy.ToeplitzSumGradient(o.support, o.schema, o.first, o.gc)
	} else {
		strategy.ToeplitzMajorant(o.c, o.schema, o.gc)
	}
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

// horizons returns the numbers of steps to optimize for, the last of which is T: whole periods of b, and at least so
// many steps as there are coefficients.
func horizons(schema participation.Cyclic, coefficients int) []int {
	b := schema.Separation()
	var all []int
	for t := max(firstHorizon, 2*b, coefficients+b); t < schema.Steps()/2; t *= horizonGrowth {
		all = append(all, t/b*b)
	}
	return append(all, schema.Steps())
}

// searchLong descends at ever longer horizons, with fewer and fewer of the starts.
func (s *seriesSearch) searchLong(ctx context.Context, o Objective) (*seriesPoint, []float64, error) {
	cyclic := s.schema.(participation.Cyclic)
	starts := s.family.starts(s.schema.Separation())
	points := lists.Map(starts, func(x []float64) *seriesPoint { return &seriesPoint{x: x} })
	for i, steps := range horizons(cyclic, s.family.dimension()+1) {
		h, err := newHorizon(steps, cyclic, o.responses)
		if err != nil {
			return nil, nil, err
		}
		most := s.options.limit(laterDescent)
		if i == 0 && len(points) > keptStarts {
			most = s.options.limit(firstDescent)
		}
		s.round(points, func(p *seriesPoint) (int, float64) {
			ended := h.descend(ctx, s.long(), p.x, most)
			p.value, p.status = ended.Value, ended.Status
			return ended.Iterations, math.Exp(ended.Value)
		})
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		slices.SortStableFunc(points, func(p, q *seriesPoint) int { return cmp.Compare(p.value, q.value) })
		points = points[:min(len(points), max(1, keptStarts-i))]
	}
	if v := points[0].value; math.IsInf(v, 0) || math.IsNaN(v) {
		return nil, nil, errors.New("no start has a finite loss")
	}
	return points[0], nil, nil
}

// horizon is the search for so many steps.
type horizon struct {
	schema   participation.Cyclic
	response Response
	enough   float64 // of the logarithm of the loss: a smaller decrease ends a descent
}

func newHorizon(steps int, whole participation.Cyclic, responses Responses) (*horizon, error) {
	response, err := responses(steps, true)
	if err != nil || steps == whole.Steps() {
		return &horizon{whole, response, 1e-10}, err
	}
	b := min(whole.Separation(), steps)
	k := min(whole.Participations(), (steps-1)/whole.Separation()+1)
	schema, err := participation.NewCyclic(steps, k, b)
	return &horizon{schema, response, 1e-7}, err
}

// descend minimizes from x, and leaves the minimum there.
func (h *horizon) descend(ctx context.Context, f longFamily, x []float64, iterations int) optim.Result {
	done := func(it optim.Iteration) bool { return it.Count > 0 && it.Decrease < h.enough }
	opts := optim.Options{Memory: 20, MaxIterations: iterations, Done: done}
	return optim.Minimize(ctx, newLongObjective(h.schema, h.response, f), x, opts)
}

package factorize

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// OverlapSteps is the number of steps up to which optima where patterns overlap are improved without mask and budgets,
// and bounded by OverlapBound: both take a multiple of the time that the optimum within these takes.
const OverlapSteps = 1024

// overlapObjective is log tr(H X⁻¹) plus the squared sensitivity of X, over all positive definite X with a band:
// without the mask and the budgets, which lose something where patterns overlap. The sensitivity is convex in X but
// not smooth: the soft maximum of the sums over patterns takes its place, and √(x² + ε²) the place of magnitudes. It
// is added, not its logarithm, so that it is one at the minimum. The sum of magnitudes loses nothing against
// contributions that are vectors in all cases that were compared with semidefinite programs.
type overlapObjective struct {
	*maskedObjective
	beta     float64 // β of the soft maximum
	rounding float64 // ε

	x, smooth, weights []float64 // X, its smooth magnitudes and the sum's derivatives by these, at the last Value
	error, sens        float64
}

// freeMask returns the mask that knows the band alone.
func freeMask(schema participation.Schema, bandwidth int) mask {
	return maskOf(schema, bandwidth, nil, func(int, int) bool { return false })
}

func (o *overlapObjective) Value(x []float64) float64 {
	o.error = o.maskedObjective.Value(x)
	if !(o.error > 0) || math.IsInf(o.error, 1) {
		return math.Inf(1)
	}
	o.x = append(o.x[:0], x...)
	o.smooth = append(o.smooth[:0], x...)
	for i, v := range o.smooth {
		if v != 0 {
			o.smooth[i] = math.Sqrt(v*v + o.rounding*o.rounding)
		}
	}
	o.weights = append(o.weights[:0], make([]float64, len(x))...)
	o.sens = participation.SoftMaximum(o.mask.schema, mat.NewSymDense(o.steps, o.smooth), o.beta, o.weights)
	return math.Log(o.error) + o.sens
}

func (o *overlapObjective) GradientTo(dst []float64) {
	o.maskedObjective.GradientTo(dst)
	floats.Scale(1/o.error, dst)
	for i, w := range o.weights {
		if w != 0 && o.x[i] != 0 {
			dst[i] += w * o.x[i] / o.smooth[i]
		}
	}
	o.mask.project(dst)
}

// overlapStages are soft maxima and roundings of magnitudes, in units of the mean diagonal entry, that follow one another.
var overlapStages = []struct{ beta, rounding float64 }{{1000, 1e-3}, {5000, 1e-4}, {20000, 1e-5}, {80000, 1e-5}}

// overlapEffort returns how many iterations a stage has, and the decrease of the logarithm of the loss below which it
// ends: of persons, whose every two steps are in some pattern, the optimum is far from the start.
func overlapEffort(schema participation.Schema) (iterations int, decrease float64) {
	if _, ok := schema.(*participation.People); ok {
		return 600, 1e-8
	}
	return 60, 1e-7
}

// improveOverlap descends from x, the optimum within mask and budgets, without these, and returns the X of least loss
// by the schema's own measure, and the number of iterations. Under min-sep X keeps a band of 2b at most, within which
// the sensitivity is known exactly; of strategies with up to b bands, where budgets are all that is lost, x itself is
// returned, as it is if the patterns are a partition, or for more than OverlapSteps steps. The last x of the objective
// is another one afterwards.
func improveOverlap(ctx context.Context, o *maskedObjective, start []float64) ([]float64, int) {
	schema := o.mask.schema
	if participation.IsPartition(schema) || o.mask.bandwidth <= schema.Separation() || o.steps > OverlapSteps {
		return start, 0
	}
	free := *o
	free.mask = freeMask(schema, o.mask.bandwidth)
	if _, ok := schema.(participation.MinSep); ok {
		free.mask = freeMask(schema, min(o.mask.bandwidth, 2*schema.Separation()))
	}
	best, least := start, math.Inf(1)
	try := func(x []float64) {
		sens, err := schema.Sensitivity(mat.NewSymDense(o.steps, slices.Clone(x)))
		if err != nil {
			return
		}
		if loss := free.Value(x) * sens.Squared; loss < least {
			best, least = slices.Clone(x), loss
		}
	}
	try(start)
	x := slices.Clone(start)
	unit := 0.0
	for s := range o.steps {
		unit += x[s*o.steps+s] / float64(o.steps)
	}
	for i, keep := range free.mask.keep {
		if keep && x[i] == 0 {
			x[i] = 1e-9 * unit // so that it has a slope
		}
	}
	p := &overlapObjective{maskedObjective: &free}
	iterations := 0
	most, decrease := overlapEffort(schema)
	for _, stage := range overlapStages {
		p.beta, p.rounding = stage.beta, stage.rounding*unit
		m := newMetric(&free)
		ended := optim.Minimize(ctx, p, x, optim.Options{
			MaxIterations: most,
			Memory:        20,
			Precondition:  m.solveTo,
			Done: func(it optim.Iteration) bool {
				m.follow(it)
				return it.Count > 0 && it.Decrease < decrease
			},
		})
		iterations += ended.Iterations
		try(x)
	}
	return best, iterations
}

// refineOverlap improves on the optimum within mask and budgets, where patterns overlap, and bounds it by the
// relaxation.
func (s *search) refineOverlap(ctx context.Context, h *mat.SymDense, result *Result) (*Result, error) {
	k := s.objective.mask
	improved, iterations := improveOverlap(ctx, s.objective, s.x)
	if iterations > 0 {
		within := *result
		if err := result.measure(h, improved, k.schema); err != nil {
			return nil, err
		}
		if !(result.Loss <= within.Loss) { // the objective's H is not h where h is singular
			*result = within
		}
		result.Iterations += iterations
	}
	var err error
	if result.LowerBound, err = overlapBound(ctx, h, k, s.opts); err != nil {
		return nil, err
	}
	result.Gap = GapOf(result.Loss, result.LowerBound)
	if ctx.Err() != nil {
		result.Status = optim.Interrupted
	}
	people, ok := k.schema.(*participation.People)
	if !ok {
		return result, nil
	}
	alone, err := optimizeMasked(ctx, h, newMask(people.Cycle(), k.bandwidth), Options{Gap: s.opts.Gap})
	if err != nil {
		return nil, err
	}
	return result, result.replaceBy(h, alone.Strategy, people)
}

// replaceBy takes the strategy for one batch a person in the place of a worse one: what m batches cost with it is m²
// times as much at most.
func (r *Result) replaceBy(h *mat.SymDense, alone strategy.Strategy, schema participation.Schema) error {
	other := *r
	err := other.take(alone, Mean(h), schema)
	if other.Gap = GapOf(other.Loss, r.LowerBound); err == nil && other.Loss < r.Loss {
		*r = other
	}
	return err
}

// overlapBound is the lower bound for the mask's strategies that the schema's Relaxation has.
func overlapBound(ctx context.Context, h *mat.SymDense, k mask, opts Options) (float64, error) {
	if opts.LowerBound > 0 {
		return opts.LowerBound, nil
	}
	r, err := optimizeMasked(ctx, h, newMask(participation.Relaxation(k.schema), k.bandwidth), Options{Gap: opts.Gap})
	if err != nil {
		return 0, err
	}
	return r.LowerBound, nil
}

package verify

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
	"mafalda/internal/rounding"
	"mafalda/measure"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// fineGap is the relative precision to which an optimum is computed again: finer than what the manifest may claim.
func (v *verification) fineGap() float64 {
	return math.Max(math.Min(v.export.Manifest.Tolerance, 1e-7), factorize.MinGap(v.export.Manifest.Steps))
}

// optimum searches again for the best of all strategies for the mean, from a start if there is one.
func (v *verification) optimum(ctx context.Context, h *mat.SymDense, s participation.Schema,
	start *mat.SymDense) (*factorize.Result, error) {
	return factorize.Dense{}.Optimize(ctx, factorize.Mean(h), s, factorize.Options{Gap: v.fineGap(), Start: start})
}

// optimumIs searches for the optimum under a schema, and checks what the manifest says of its loss under a key, in its place
// again.
func (v *verification) optimumIs(ctx context.Context, h *mat.SymDense, s participation.Schema, check, key string, again *float64) error {
	best, err := v.optimum(ctx, h, s, nil)
	if err == nil {
		*again, v.reached[key] = best.Loss, best.Gap
		v.compare(check, "")
	}
	return err
}

// lowerBoundIs checks the lower bound by what is proven: it must not be above what may be claimed, such as a loss that was
// reached. One that is weaker than what is proven is a bound as well, and what it leaves open is its gap.
func (v *verification) lowerBoundIs(proven, possible float64) {
	v.again.LowerBound = possible
	v.compare("lower bound", fmt.Sprintf("%s is proven, at most %s may be claimed", textDown(proven), textDown(possible)))
}

// overlapBound checks the lower bound of a strategy that is not the dense optimum, which best is, under the schema or
// under fewer patterns. Where patterns overlap a search proves more, and what it proves is searched again.
func (s *costs) overlapBound(ctx context.Context, best *factorize.Result) error {
	if participation.IsPartition(s.schema) || s.export.Manifest.LowerBound <= best.LowerBound {
		s.lowerBoundIs(best.Bound(), best.Loss)
		return nil
	}
	proven, err := factorize.OverlapBound(ctx, s.h, strategy.GramOf(s.c), s.schema)
	if err != nil {
		return err
	}
	proven = math.Max(proven, best.LowerBound)
	s.lowerBoundIs(proven, proven*(1+sameSearch))
	return nil
}

// denseBound proves the lower bound by the exported strategy or, if that is not enough, by optimizing from there.
func (s *costs) denseBound(ctx context.Context) error {
	s.refuseRatio()
	x := strategy.GramOf(s.c)
	bound, err := factorize.LowerBound(s.h, x, s.schema)
	if err != nil {
		return err
	}
	if s.export.Manifest.LowerBound <= bound {
		s.lowerBoundIs(bound, bound)
		return nil
	}
	best, err := s.optimum(ctx, s.h, s.schema, x)
	if err == nil {
		s.lowerBoundIs(best.Bound(), best.Loss)
	}
	return err
}

// refuseRatio refuses what only strategies of other classes than dense have.
func (v *verification) refuseRatio() {
	if v.export.Manifest.Strategy.Ratio != 0 {
		v.add("ratio", false, "strategy.ratio is not for the dense optimum")
	}
}

// classBound checks the bound for strategies of the class alone, where there is one.
func (s *costs) classBound(ctx context.Context) error {
	m := s.export.Manifest
	says, gap := m.Strategy.ClassBound, m.Strategy.ClassGap
	class, err := measure.ClassOf(m)
	if err != nil || !class.Traits().Certified { // a class without a bound
		return err
	}
	if says == 0 && gap == nil {
		s.skip("strategy.class_bound", "strategy.class_gap")
		return nil
	}
	best, err := class.Optimize(ctx, factorize.Mean(s.h), s.schema, factorize.Options{Gap: s.fineGap()})
	if err != nil {
		return err
	}
	s.again.Strategy.ClassBound = best.Loss
	s.compare("class bound", "")
	if gap == nil {
		s.skip("strategy.class_gap")
		return nil
	}
	s.again.Strategy.ClassGap = new((m.Loss - says) / says)
	s.compare("class gap", "")
	return nil
}

// stepErrors checks squared error and loss of an objective other than the mean, and its lower bound.
func (s *costs) stepErrors(ctx context.Context) error {
	m := s.export.Manifest
	if !participation.IsPartition(s.schema) || !isDense(m.Strategy) {
		return failed("objective", "%s is for one dense strategy under patterns that do not overlap", s.o)
	}
	if err := s.quality(); err != nil {
		return err
	}
	s.refuseRatio()
	if s.o == measure.Last {
		return s.lastBound(ctx)
	}
	best, err := worstBound(ctx, s.kernel, s.schema, m.Weights)
	if err != nil {
		return failed("lower bound", "%v", err)
	}
	s.lowerBoundIs(best.Bound(), best.Loss)
	return nil
}

// lastBound proves the bound for the last step by the exported strategy or, if that is not enough, by the search that
// led to it.
func (s *costs) lastBound(ctx context.Context) error {
	m := s.export.Manifest
	if m.Weights != nil {
		return failed("objective", "objective_weights are for the objective max, not for last")
	}
	bound, err := factorize.LowerBoundLast(s.kernel, strategy.GramOf(s.c), s.schema)
	if err != nil {
		return err
	}
	if m.LowerBound > bound {
		best, err := factorize.Dense{}.Optimize(ctx, s.objective, s.schema, factorize.Options{Gap: m.Tolerance})
		if err != nil {
			return err
		}
		bound = math.Max(bound, best.LowerBound*(1+sameMatrix))
	}
	s.lowerBoundIs(bound, bound)
	return nil
}

// worstBound computes the optimum for a weighted mean of the steps: the worst step of no strategy has a smaller error.
//
// The mean is of the very Gram matrix that proved the bound of the manifest, to the last bit; the sum of the weights
// divides the result, rounded so that the loss is not below the true one. All else that rounds is the same for every
// strategy that is measured, and the bound gives it away when it is proven (factorize's certificate).
func worstBound(ctx context.Context, k *workload.Kernel, s participation.Schema,
	weights []float64) (*factorize.Result, error) {
	if len(weights) != k.Steps() {
		return nil, fmt.Errorf("objective max needs the weights that prove its bound: there are %d for %d steps",
			len(weights), k.Steps())
	}
	var sum rounding.Sum
	for t, w := range weights {
		if !(w >= 0) {
			return nil, fmt.Errorf("objective_weights[%d] is %v: must not be negative", t, w)
		}
		sum.Add(w)
	}
	if math.Abs(sum.Value()-1) > 4*float64(k.Steps())*0x1p-53 {
		return nil, fmt.Errorf("objective_weights sum to %v, not to 1", sum.Value())
	}
	best, err := factorize.Dense{}.Optimize(ctx, factorize.Mean(k.WeightedGram(weights)), s,
		factorize.Options{Gap: math.Max(1e-8, factorize.MinGap(k.Steps()))})
	if err != nil {
		return nil, err
	}
	best.Loss = rounding.DivUp(best.Loss, sum.Down())
	best.LowerBound = math.Nextafter(best.LowerBound/sum.Up(), 0)
	return best, nil
}

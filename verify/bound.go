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

// optimumIs checks what the manifest says of the loss of such an optimum, in its place again.
func (v *verification) optimumIs(check, key string, again *float64, best *factorize.Result) {
	*again, v.reached[key] = best.Loss, best.Gap
	v.compare(check, "")
}

// lowerBoundIs checks the lower bound by what is proven: it must not be above what may be claimed, such as a loss that was
// reached. One that is weaker than what is proven is a bound as well, and what it leaves open is its gap.
func (v *verification) lowerBoundIs(proven, possible float64) {
	v.again.LowerBound = possible
	v.compare("lower bound", fmt.Sprintf("%s is proven, at most %s may be claimed", textDown(proven), textDown(possible)))
}

// overlapBound checks the lower bound of a strategy that is not the dense optimum, which best is, under the schema or
// under fewer patterns. Where patterns overlap a search proves more, and what it proves is searched again.
func (v *verification) overlapBound(ctx context.Context, c strategy.Strategy, h *mat.SymDense,
	best *factorize.Result) error {
	if participation.IsPartition(v.schema) || v.export.Manifest.LowerBound <= best.LowerBound {
		v.lowerBoundIs(best.Bound(), best.Loss)
		return nil
	}
	proven, err := factorize.OverlapBound(ctx, h, strategy.GramOf(c), v.schema)
	if err != nil {
		return err
	}
	proven = math.Max(proven, best.LowerBound)
	v.lowerBoundIs(proven, proven*(1+sameSearch))
	return nil
}

// denseBound proves the lower bound by the exported strategy or, if that is not enough, by optimizing from there.
func (v *verification) denseBound(ctx context.Context, c strategy.Strategy, h *mat.SymDense) error {
	v.refuseRatio()
	x := strategy.GramOf(c)
	bound, err := factorize.LowerBound(h, x, v.schema)
	if err != nil {
		return err
	}
	if v.export.Manifest.LowerBound <= bound {
		v.lowerBoundIs(bound, bound)
		return nil
	}
	best, err := v.optimum(ctx, h, v.schema, x)
	if err == nil {
		v.lowerBoundIs(best.Bound(), best.Loss)
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
func (v *verification) classBound(ctx context.Context, h *mat.SymDense) error {
	m := v.export.Manifest
	says, gap := m.Strategy.ClassBound, m.Strategy.ClassGap
	class, err := measure.ClassOf(m)
	if err != nil || !class.Traits().Certified { // a class without a bound
		return err
	}
	if says == 0 && gap == nil {
		v.skip("strategy.class_bound", "strategy.class_gap")
		return nil
	}
	best, err := class.Optimize(ctx, factorize.Mean(h), v.schema, factorize.Options{Gap: v.fineGap()})
	if err != nil {
		return err
	}
	v.again.Strategy.ClassBound = best.Loss
	v.compare("class bound", "")
	if gap == nil {
		v.skip("strategy.class_gap")
		return nil
	}
	v.again.Strategy.ClassGap = new((m.Loss - says) / says)
	v.compare("class gap", "")
	return nil
}

// stepErrors checks squared error and loss of an objective other than the mean, and its lower bound.
func (v *verification) stepErrors(ctx context.Context, o measure.Objective, c strategy.Strategy, k *workload.Kernel) error {
	m := v.export.Manifest
	if !participation.IsPartition(v.schema) || !isDense(m.Strategy) {
		v.add("objective", false, "%s is for one dense strategy under patterns that do not overlap", o)
		return nil
	}
	q, err := factorize.Evaluate(c, o.ForKernel(k), v.schema)
	if err != nil {
		return err
	}
	v.lossIs(q)
	v.refuseRatio()
	if o == measure.Last {
		return v.lastBound(ctx, c, k)
	}
	best, err := worstBound(ctx, k, v.schema, m.Weights)
	if err != nil {
		v.add("lower bound", false, "%v", err)
		return nil
	}
	v.lowerBoundIs(best.Bound(), best.Loss)
	return nil
}

// lastBound proves the bound for the last step by the exported strategy or, if that is not enough, by the search that
// led to it.
func (v *verification) lastBound(ctx context.Context, c strategy.Strategy, k *workload.Kernel) error {
	m := v.export.Manifest
	if m.Weights != nil {
		v.add("objective", false, "objective_weights are for the objective max, not for last")
	}
	bound, err := factorize.LowerBoundLast(k, strategy.GramOf(c), v.schema)
	if err != nil {
		return err
	}
	if m.LowerBound > bound {
		best, err := factorize.Dense{}.Optimize(ctx, factorize.Last(k), v.schema, factorize.Options{Gap: m.Tolerance})
		if err != nil {
			return err
		}
		bound = math.Max(bound, best.LowerBound*(1+sameMatrix))
	}
	v.lowerBoundIs(bound, bound)
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

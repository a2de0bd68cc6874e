package verify

import (
	"context"
	"fmt"
	"math"

	"mafalda/factorize"
	"mafalda/internal/rounding"
	"mafalda/measure"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

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
	v.boundIs("lower bound", &v.again.LowerBound, m.LowerBound, best)
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
	v.again.LowerBound = bound
	v.compare("lower bound", fmt.Sprintf("%s is proven; the manifest says %s", textDown(bound), textDown(m.LowerBound)))
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

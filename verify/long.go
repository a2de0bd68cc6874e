package verify

import (
	"context"
	"fmt"

	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/graph"
	"mafalda/internal/rounding"
	"mafalda/measure"
	"mafalda/participation"
	"mafalda/strategy"
)

// longLoss checks squared error and loss of a strategy of many steps, and the baselines.
func (v *verification) longLoss(ctx context.Context, n *graph.Network, c strategy.Strategy) error {
	m := v.export.Manifest
	if m.Gram == nil {
		v.add("loss", false, "the manifest does not say how it was computed")
		return nil
	}
	if err := v.checkSketch(n); err != nil {
		return err
	}
	responses, sketch, err := measure.Source{Gram: m.Gram, Network: n, Workload: v.spec}.Responses(ctx)
	if err != nil {
		return v.computing("loss", err)
	}
	q, err := factorize.Evaluate(c, factorize.Long(responses), v.schema)
	if err != nil {
		return v.computing("loss", err)
	}
	v.lossIs(q)
	if m.Strategy.Ratio != 0 || m.Strategy.ClassBound != 0 || m.Strategy.ClassGap != nil ||
		m.Objective != "" || m.Weights != nil {
		v.add("lower bound", false, "there is none of a class for so many steps, no dense optimum, and no other objective")
	}
	if m.LowerBound != 0 {
		bound, err := measure.LongBound(ctx, responses, v.schema.(participation.Cyclic))
		if err != nil {
			return v.computing("lower bound", err)
		}
		v.again.LowerBound = bound * (1 + sameSearch)
		v.compare("lower bound", fmt.Sprintf("%s is proven; the manifest says %s", textDown(bound), textDown(m.LowerBound)))
	}
	if sketch != nil {
		again := *m.Gram
		if err := measure.JudgeLong(ctx, &again, sketch, c); err != nil {
			return v.computing("estimate", err)
		}
		v.estimateIs(sketch, &again, fmt.Sprintf("of the network: the loss within %s", rounding.UpText(*again.LossError, 2)))
	}
	if len(m.Baselines) == 0 {
		v.skip("baselines")
		return nil
	}
	is, err := baselines.Plain(m.Steps, baselines.On(factorize.Long(responses), v.schema))
	if err != nil {
		return v.computing("baselines", err)
	}
	v.baselinesAre([]string{"dp-d-sgd", "antipgd"}, is)
	return nil
}

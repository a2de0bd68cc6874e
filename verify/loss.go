package verify

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/graph"
	"mafalda/measure"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// loss checks squared error and loss, and proves the lower bounds anew.
func (v *verification) loss(ctx context.Context, c strategy.Strategy, h *mat.SymDense) error {
	m := v.export.Manifest
	q, err := factorize.Evaluate(c, factorize.Mean(h), v.schema)
	if err != nil {
		return err
	}
	v.lossIs(q)
	v.estimate(h, c)
	if m.Weights != nil {
		v.add("objective", false, "objective_weights are for the objective max; the manifest names none")
	}
	if isDense(m.Strategy) && participation.IsPartition(v.schema) && !m.Binned() {
		return v.denseBound(ctx, c, h)
	}
	best, err := v.optimum(ctx, h, participation.Relaxation(v.schema), nil)
	if err != nil {
		return err
	}
	if err := v.overlapBound(ctx, c, h, best); err != nil {
		return err
	}
	switch {
	case !participation.IsPartition(v.schema) && m.Strategy.Ratio != 0:
		v.add("ratio", false, "strategy.ratio is for patterns that do not overlap")
	case !participation.IsPartition(v.schema):
	case m.Strategy.Ratio == 0 || m.Status != optim.Converged.String():
		v.skip("strategy.ratio")
	default:
		v.ratioIs(q.Loss / best.Loss)
	}
	if m.Binned() { // none is proven for strategies without negative entries
		return nil
	}
	return v.classBound(ctx, h)
}

// lossIs compares what was computed with the manifest.
func (v *verification) lossIs(q factorize.Quality) {
	v.again.SquaredError, v.again.Loss = q.SquaredError, q.Loss
	v.compare("loss", "")
}

// ratioIs compares how many times the dense optimum's loss the loss is.
func (v *verification) ratioIs(is float64) {
	v.again.Strategy.Ratio = is
	v.compare("ratio", "")
}

// estimate checks what the manifest says about an estimated Gram matrix.
func (v *verification) estimate(h *mat.SymDense, c strategy.Strategy) {
	claimed := v.export.Manifest.Gram
	if claimed == nil || v.estimated == nil {
		return
	}
	m := v.export.Manifest
	again := *claimed
	d, err := measure.Judge(&again, v.estimated, h, c)
	if err == nil && isDense(m.Strategy) && participation.IsPartition(v.schema) {
		err = d.Optimum(m.Gap)
	}
	if err != nil {
		v.add("estimate", false, "%v", err)
		return
	}
	v.estimateIs(v.estimated, &again)
}

// estimateIs compares what the manifest says of an estimate with what it is. Unit vectors leave no choice to a seed.
func (v *verification) estimateIs(s workload.Estimate, is *export.Gram) {
	if v.export.Manifest.Gram.Confidence == 1 {
		v.skip("gram.seed")
	}
	is.Probes = s.Probes()
	v.again.Gram = is
	v.compare("estimate", "")
}

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
	responses, sketch, err := v.source(n, nil).Responses(ctx)
	if err != nil {
		return v.computing("loss", err)
	}
	q, err := factorize.Evaluate(c, factorize.Long(responses), v.schema)
	if err != nil {
		return v.computing("loss", err)
	}
	v.lossIs(q)
	if m.Strategy.Ratio != 0 || m.Objective != "" || m.Weights != nil {
		v.add("lower bound", false, "there is no dense optimum for so many steps, and no other objective")
	}
	if m.LowerBound != 0 {
		bound, err := measure.LongBound(ctx, responses, v.schema.(participation.Cyclic))
		if err != nil {
			return v.computing("lower bound", err)
		}
		v.lowerBoundIs(bound, bound*(1+sameSearch))
	}
	if sketch != nil {
		again := *m.Gram
		if err := measure.JudgeLong(ctx, &again, sketch, c); err != nil {
			return v.computing("estimate", err)
		}
		v.estimateIs(sketch, &again)
	}
	if len(m.Baselines) == 0 {
		v.skip("baselines")
		return nil
	}
	is, err := baselines.Plain(m.Steps, baselines.MeasureOf(factorize.Long(responses), v.schema))
	if err != nil {
		return v.computing("baselines", err)
	}
	v.baselinesAre([]string{"dp-d-sgd", "antipgd"}, is)
	return v.plain(ctx, n, func() factorize.Objective { return factorize.Long(responses) })
}

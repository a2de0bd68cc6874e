package verify

import (
	"context"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/measure"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/workload"
)

// meanLoss checks squared error and loss of one strategy for the mean, and proves the lower bounds anew.
func (s *costs) meanLoss(ctx context.Context) error {
	m, partition := s.export.Manifest, participation.IsPartition(s.schema)
	if err := s.quality(); err != nil {
		return err
	}
	s.estimate()
	if m.Weights != nil {
		return failed("objective", "objective_weights are for the objective max; the manifest names none")
	}
	if isDense(m.Strategy) && partition && !m.Binned() {
		return s.denseBound(ctx)
	}
	best, err := s.optimum(ctx, s.h, participation.Relaxation(s.schema), nil)
	if err != nil {
		return err
	}
	if err := s.overlapBound(ctx, best); err != nil {
		return err
	}
	if partition {
		s.ratio(best)
	} else {
		s.refuseRatio()
	}
	if m.Binned() { // none is proven for strategies without negative entries
		return nil
	}
	return s.classBound(ctx)
}

// ratio compares how many times the dense optimum's loss the loss is.
func (s *costs) ratio(best *factorize.Result) {
	if m := s.export.Manifest; m.Strategy.Ratio == 0 || m.Status != optim.Converged.String() {
		s.skip("strategy.ratio")
		return
	}
	s.again.Strategy.Ratio = s.again.Loss / best.Loss
	s.compare("ratio", "")
}

// estimate checks what the manifest says about an estimated Gram matrix.
func (s *costs) estimate() {
	m := s.export.Manifest
	if m.Gram == nil || s.estimated == nil {
		return
	}
	again := *m.Gram
	d, err := measure.Judge(&again, s.estimated, s.h, s.c)
	if err == nil && isDense(m.Strategy) && participation.IsPartition(s.schema) {
		err = d.Optimum(m.Gap)
	}
	if err != nil {
		s.add("estimate", false, "%v", err)
		return
	}
	s.estimateIs(s.estimated, &again)
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

// longLoss checks squared error and loss of a strategy of many steps, and its bound.
func (s *costs) longLoss(ctx context.Context) error {
	m := s.export.Manifest
	if m.Gram == nil {
		return failed("loss", "the manifest does not say how it was computed")
	}
	responses, sketch, err := s.source(s.n, nil).Responses(ctx)
	if err != nil {
		return err
	}
	s.objective = factorize.Long(responses)
	if err := s.quality(); err != nil {
		return err
	}
	if m.Strategy.Ratio != 0 || m.Objective != "" || m.Weights != nil {
		return failed("lower bound", "there is no dense optimum for so many steps, and no other objective")
	}
	if m.LowerBound != 0 {
		bound, err := measure.LongBound(ctx, responses, s.schema.(participation.Cyclic))
		if err != nil {
			return err
		}
		s.lowerBoundIs(bound, bound*(1+sameSearch))
	}
	if sketch == nil {
		return nil
	}
	again := *m.Gram
	if err := measure.JudgeLong(ctx, &again, sketch, s.c); err != nil {
		return err
	}
	s.estimateIs(sketch, &again)
	return nil
}

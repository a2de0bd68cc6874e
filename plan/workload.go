package plan

import (
	"context"

	"mafalda/internal/fault"
	"mafalda/measure"
	"mafalda/workload"
)

// checkWorkload finds what is wrong with the workload, also on the network if there is one.
func (p Problem) checkWorkload() error {
	s, n := p.Workload, p.Network
	if err := s.Check(p.Schema.Steps()); err != nil {
		return err
	}
	switch {
	case p.Objective != Mean && !s.CountsAll():
		return fault.New("AverageLast", nil, "[Objective] %v says itself which steps count", p.Objective)
	case p.Objective != Mean && !s.HasSteps():
		return fault.New("Objective", p.Objective, "the errors of single steps are not known of networks that change")
	case n == nil:
		return nil
	case n.Sequence != nil && s.GraphSequence == nil:
		return fault.New("GraphSequence", nil, "the network has networks that take turns, the workload has not")
	}
	_, err := s.Networks(n.Gossip.Matrix(), 0)
	return err
}

// Tolerance is the default certified relative gap at which a search stops: the objective's default, or the last step's
// where the noise of other steps costs nothing.
func (p Problem) Tolerance() float64 {
	if p.Objective == Mean && p.Workload.HasFreeNoise(p.Schema.Steps()) {
		return Last.Tolerance()
	}
	return p.Objective.Tolerance()
}

// comparePlain fills in what the strategy costs that is optimal for the plain workload, unless this is it. If the
// context ends before that is known, there are no baselines either: a manifest has both or neither.
func (s *job) comparePlain(ctx context.Context) error {
	if s.Problem.Workload.IsPlain() || s.Options.NoBaselines {
		return nil
	}
	if ctx.Err() != nil {
		s.Baselines = nil
		return nil
	}
	on := s.source("strategy of plain training")
	s.show("strategy of plain training", 0)
	if on.Sketch, _ = s.estimate.(*workload.Sketch); s.estimate == nil {
		on.Known = s.kernel
	}
	loss, err := measure.PlainLoss(ctx, s.Manifest(), on, s.objective)
	if isEnd(err) {
		s.Baselines = nil
		return nil
	}
	s.PlainLoss = loss
	return err
}

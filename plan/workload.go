package plan

import (
	"context"
	"fmt"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
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

// attached returns the workload of an export with the networks that take turns on n, which must be those that it was
// made for. Without them it is as it was.
func attached(s workload.Spec, n *graph.Network) (workload.Spec, error) {
	if s.GraphSequence == nil || n == nil || n.Sequence == nil {
		return s, nil
	}
	on, err := s.On(n)
	if err == nil {
		s.GraphSequence, err = s.GraphSequence.Attach(on.GraphSequence)
	}
	return s, err
}

// plain fills in what the strategy costs that is optimal for the plain workload, unless this is it. If the context ends
// before that is known, there are no baselines either: a manifest has both or neither.
func (s *solver) plain(ctx context.Context) error {
	if s.Problem.Workload.IsPlain() || s.Options.NoBaselines || s.Space != nil {
		return nil
	}
	if ctx.Err() != nil {
		s.Baselines = nil
		return nil
	}
	on := s.source("strategy of plain training")
	s.show("strategy of plain training", 0)
	if on.sketch, _ = s.estimate.(*workload.Sketch); s.estimate == nil {
		on.known = s.kernel
	}
	loss, err := plainLoss(ctx, s.Manifest(), on, s.objective)
	if isEnd(err) {
		s.Baselines = nil
		return nil
	}
	s.PlainLoss = loss
	return err
}

// plainLoss returns what a manifest says as plain_strategy_loss: the loss, by an objective, of the strategy of the
// exported class and parameters that is optimal for the plain workload of the source. An end of the context is an
// error.
func plainLoss(ctx context.Context, m *export.Manifest, on source, by func() factorize.Objective) (float64, error) {
	schema, err := m.Schema()
	if err != nil {
		return 0, err
	}
	class, err := classOf(m)
	if err != nil {
		return 0, err
	}
	on.workload = on.workload.Plain()
	if on.gram, err = plainGram(on, m.Steps, class); err != nil {
		return 0, err
	}
	o, err := objectiveOf(m)
	if err != nil {
		return 0, err
	}
	var plain factorize.Objective
	if long := m.Steps > strategy.LongSteps && class.Traits().Has(factorize.ManySteps); long {
		responses, _, err := on.responses(ctx)
		if err != nil {
			return 0, err
		}
		plain = factorize.Long(responses)
	} else {
		k, _, err := on.kernel(ctx, m.Steps)
		if err != nil {
			return 0, err
		}
		plain = o.forKernel(k)
	}
	best, err := class.Optimize(ctx, plain, schema, plainOptions(o, plain, schema))
	switch {
	case err != nil:
		return 0, fmt.Errorf("optimizing for plain training: %w", err)
	case best.Status == optim.Interrupted:
		return 0, context.Canceled
	}
	q, err := factorize.Evaluate(best.Strategy, by(), schema)
	return q.Loss, err
}

// plainGram returns how the Gram matrix of the plain workload is computed: in the same way as the source's, if
// possible.
func plainGram(on source, steps int, class factorize.Class) (*export.Gram, error) {
	switch {
	case on.network == nil:
		return &export.Gram{Method: GramExact.String()}, nil
	case on.gram != nil && on.gram.Method != GramSampled.String():
		return on.gram, nil
	}
	return Gram{}.choose(on.network, steps, "", steps > strategy.LongSteps && class.Traits().Has(factorize.ManySteps))
}

// plainOptions asks for a small gap: the loss on another workload is known to about its root.
func plainOptions(o Objective, plain factorize.Objective, schema participation.Schema) factorize.Options {
	if o != Mean || plain.Kind() == factorize.ManySteps {
		return factorize.Options{}
	}
	return factorize.Options{Gap: factorize.MinGap(schema.Steps())}
}

// classOf returns the class of an exported strategy with its parameters.
func classOf(m *export.Manifest) (factorize.Class, error) {
	c, err := factorize.ClassOf(m.Strategy.Class)
	if err != nil {
		return nil, err
	}
	p := factorize.Parameters{ScaleColumns: m.Strategy.Columns != nil}
	if c.Traits().Bandwidth != nil {
		p.Bandwidth = m.Strategy.Bandwidth
	}
	if c.Traits().Buffers > 0 {
		p.Buffers = m.Strategy.Buffers
	}
	return c.With(p)
}

// objectiveOf returns the objective of an export.
func objectiveOf(m *export.Manifest) (Objective, error) {
	if m.Objective == "" {
		return Mean, nil
	}
	return ParseObjective(m.Objective)
}

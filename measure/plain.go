package measure

import (
	"context"
	"fmt"
	"math"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// Plain returns the source for the plain workload: of gradient descent, whose gradients do not react.
func (s Source) Plain() Source {
	s.Workload, s.Curvature = s.Workload.Plain(), nil
	return s
}

// Uncurved returns the source for the same training of gradients that do not react.
func (s Source) Uncurved() Source {
	s.Curvature = nil
	return s
}

// OtherLoss returns what a manifest says as plain_strategy_loss (of Source.Plain) and uncurved_strategy_loss (of
// Source.Uncurved): the loss, by an objective, of the strategy of the exported class and parameters that is optimal for
// another source. An end of the context is an error.
func OtherLoss(ctx context.Context, m *export.Manifest, on Source, by func() factorize.Objective) (float64, error) {
	schema, err := m.Schema()
	if err != nil {
		return 0, err
	}
	class, err := ClassOf(m)
	if err != nil {
		return 0, err
	}
	if on.Gram, err = plainGram(on, m.Steps, class); err != nil {
		return 0, err
	}
	o, err := ObjectiveOf(m)
	if err != nil {
		return 0, err
	}
	var plain factorize.Objective
	if long := m.Steps > strategy.LongSteps && class.Traits().Has(factorize.ManySteps); long {
		responses, _, err := on.Responses(ctx)
		if err != nil {
			return 0, err
		}
		plain = factorize.Long(responses)
	} else {
		k, _, err := on.Kernel(ctx, m.Steps)
		if err != nil {
			return 0, err
		}
		plain = o.ForKernel(k)
	}
	best, err := class.Optimize(ctx, plain, schema, plainOptions(o, plain, schema))
	switch {
	case err != nil:
		return 0, fmt.Errorf("optimizing for another training: %w", err)
	case best.Status == optim.Interrupted:
		return 0, context.Canceled
	}
	q, err := factorize.Evaluate(best.Strategy, by(), schema)
	return q.Loss, err
}

// plainGram returns how the Gram matrix of the plain workload is computed: in the same way as the source's, if
// possible.
func plainGram(on Source, steps int, class factorize.Class) (*export.Gram, error) {
	switch {
	case on.Network == nil:
		return &export.Gram{Method: GramExact.String()}, nil
	case on.Gram != nil && (on.Gram.Method != GramSampled.String() || !on.Workload.IsStatic()):
		return on.Gram, nil
	}
	return Gram{}.Choose(on.Network, Demand{Workload: on.Workload, Curvature: on.Curvature, Steps: steps,
		Long: steps > strategy.LongSteps && class.Traits().Has(factorize.ManySteps)})
}

// plainOptions asks for a small gap: the loss on another workload is known to about its root.
func plainOptions(o Objective, plain factorize.Objective, schema participation.Schema) factorize.Options {
	if o != Mean || plain.Kind() == factorize.ManySteps {
		return factorize.Options{}
	}
	return factorize.Options{Gap: factorize.MinGap(schema.Steps())}
}

// ClassOf returns the class of an exported strategy with its parameters.
func ClassOf(m *export.Manifest) (factorize.Class, error) {
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

// CandidateGap is the gap to which the strategies of candidates under Poisson sampling are optimized for a tolerance:
// fine enough for their numbers to be computed again, unless a coarser one was asked for.
func CandidateGap(tolerance float64, steps int) float64 {
	if tolerance > Mean.Tolerance() {
		return tolerance
	}
	return math.Max(math.Min(tolerance, 1e-7), factorize.MinGap(steps))
}

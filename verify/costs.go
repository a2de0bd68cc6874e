package verify

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
	"mafalda/factorize/spacetime"
	"mafalda/graph"
	"mafalda/internal/rounding"
	"mafalda/measure"
	"mafalda/strategy"
	"mafalda/workload"
)

// costs is what the checks of what strategies cost on a network have in common.
type costs struct {
	*verification
	n   *graph.Network      // nil for the prefix workload
	all []strategy.Strategy // strategies as exported: one for all nodes, or several
	c   strategy.Strategy   // the first of them

	o         measure.Objective
	objective factorize.Objective // how strategies are measured
	kernel    *workload.Kernel    // nil of very many steps, and of noise that is shared
	h         *mat.SymDense       // Gram matrix; nil of very many steps

	p         spacetime.Problem // where noise is shared
	time, ldp *factorize.Result // the best of all strategies for the noise between nodes; the best of the class without secrets
}

// check checks squared error and loss, and all that they are compared with, until a computation fails.
func (s *costs) check(ctx context.Context) error {
	steps, err := s.steps(ctx)
	for _, step := range steps {
		if err == nil {
			err = step(ctx)
		}
	}
	return err
}

// steps returns the checks of an export.
func (s *costs) steps(ctx context.Context) ([]func(context.Context) error, error) {
	m, nodes := s.export.Manifest, 0
	switch {
	case m.PerNode != nil:
		nodes = len(m.PerNode.Layers)
	case m.Space != nil:
		nodes = len(s.export.Shared.Own)
	case isLongExport(s.export) && len(m.Baselines) == 0: // then it says nothing of other strategies
		return []func(context.Context) error{s.longLoss, s.baselines}, nil
	case isLongExport(s.export):
		return []func(context.Context) error{s.longLoss, s.baselines, s.plain}, nil
	}
	switch {
	case nodes > 0 && (s.n == nil || s.n.Graph.Nodes() != nodes):
		return nil, failed("nodes", "%d nodes have strategies, or noise, of their own; the network has another number", nodes)
	case nodes > 0 && m.Gram != nil && m.Gram.Method != measure.GramExact.String():
		return nil, failed("gram", "what nodes have of their own needs exact Gram matrices; the manifest says %s", m.Gram.Method)
	case m.Space != nil:
		return []func(context.Context) error{s.sharedLoss, s.timeGap, s.withoutSecrets, s.spaceGap, s.joint, s.sharedBaselines}, nil
	}
	var err error
	if s.kernel, err = s.gramKernel(ctx, s.n); err != nil {
		return nil, err
	}
	s.o, err = measure.ObjectiveOf(m)
	switch {
	case err != nil || m.Objective != "" && s.o == measure.Mean:
		return nil, failed("objective", "%q is none that a manifest can name", m.Objective)
	case s.o != measure.Mean && !s.kernel.HasSteps():
		return nil, failed("objective", "%v", ErrNoSteps)
	}
	s.h, s.objective = s.kernel.Gram(), s.o.ForKernel(s.kernel)
	first := s.meanLoss
	switch {
	case m.PerNode != nil:
		return []func(context.Context) error{s.nodeLosses, s.oneLevel, s.baselines, s.plain}, nil
	case s.o != measure.Mean:
		first = s.stepErrors
	}
	return []func(context.Context) error{first, s.candidates, s.oneLevel, s.oneBatch, s.baselines, s.family, s.plain}, nil
}

// quality checks squared error and loss by the objective.
func (s *costs) quality() error {
	q, err := factorize.Evaluate(s.c, s.objective, s.schema)
	if err == nil {
		s.again.SquaredError, s.again.Loss = q.SquaredError, q.Loss
		s.compare("loss", fmt.Sprintf("%s, squared error %s, as the manifest says", textUp(q.Loss), textUp(q.SquaredError)))
	}
	return err
}

// family checks, where the problem is one of several, unknown which, the loss for each of them over the least one of the
// class, and the bound on the largest of these ratios.
func (s *costs) family(ctx context.Context) error {
	m := s.export.Manifest
	if m.Family == nil {
		return nil
	}
	class, err := measure.ClassOf(m)
	if err != nil {
		return err
	}
	on := s.source(s.n, nil)
	family, _, err := on.Family(ctx, class, s.schema, s.fineGap())
	if err != nil {
		return err
	}
	weights := m.Family.Weights
	if len(on.Others) == 0 {
		weights = m.Curvature.Directions
	}
	s.again.Family, err = measure.DescribeFamily(s.c, s.schema, family, weights, family.Optima, math.Max(m.LowerBound, m.Strategy.ClassBound))
	if err == nil {
		s.compare("ratios", fmt.Sprintf("at most %s of what a strategy of the class has that knows the problem, none has less than %s",
			rounding.UpText(slices.Max(s.again.Family.Ratios), 5), rounding.DownText(m.Family.Bound, 5)))
	}
	return err
}

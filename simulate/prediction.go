package simulate

import (
	"cmp"
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
	"mafalda/measure"
	"mafalda/workload"
)

// What a Gram matrix may cost where no method needs it, so that predictions take no longer than a few runs.
const (
	freeGram      = 1 << 17 // n·T, of a network that stays
	freeChanging  = 1 << 13 // n·T, of one that changes
	freeNodeGrams = 1 << 31 // n·T³, of strategies of single nodes
)

// estimateProbes is how many draws of networks an estimate is made of, where there is no exact Gram matrix.
const estimateProbes = 64

// gram returns the Gram matrix of the run's workload, made when it is needed first.
func (s *Study) gram(ctx context.Context) (*mat.SymDense, error) {
	if s.made == nil {
		h, err := s.problem(Uncurved).GramMatrix(ctx)
		if err != nil {
			return nil, err
		}
		s.made = h
	}
	return s.made, nil
}

// curvature returns how gradients answer to errors at the learning rate of the run; nil where errors would grow, as at one
// that is too large.
func (s *Study) curvature() *workload.Spectrum {
	c := &workload.Spectrum{Risk: workload.Distance}
	for _, d := range s.spectrum() {
		c.X, c.Directions = append(c.X, s.config.LearningRate*d.X), append(c.Directions, s.config.LearningRate*d.Weight)
	}
	if len(c.X) == 0 || c.Curvature().Check(s.config.trained(), s.config.Gossip, s.config.Schema.Steps()) != nil {
		return nil
	}
	return c
}

// predictedExcess returns how far the noise of Result.Deviation lifts the loss of the steps that are averaged, in
// expectation, if it is quadratic, clips nothing, and curves alike in all batches; nil for other tasks, for strategies of
// single nodes or groups, and where it would cost much.
func (s *Study) predictedExcess(ctx context.Context, n *Noise, r *Result) (*float64, error) {
	p := s.config.Task.Model
	if n == nil || !p.linear() || !p.squared || s.config.Workload.Kind != workload.Model {
		return nil, nil
	}
	s.making.Lock()
	defer s.making.Unlock()
	of := n.Correlation
	if of.shared != nil || of.levels != nil || len(of.layers) > 1 || !s.foreseeable(of) {
		return nil, nil
	}
	on := s.problem(Mafalda)
	on.Workload.Weights = workload.LastSteps(s.config.Window())
	if s.excessGram == nil {
		if on.Curvature == nil {
			return nil, nil
		}
		var err error
		if s.excessGram, err = on.GramMatrix(ctx); err != nil {
			return nil, err
		}
	}
	t := measure.Training{Workload: on.Workload, Nodes: len(of.of), Steps: s.config.Schema.Steps(), Rate: s.config.LearningRate}
	squared, err := of.squaredError(0, s.excessGram)
	if err != nil {
		return nil, err
	}
	e, err := t.Predict(r.Deviation, squared)
	if err != nil {
		return nil, nil // of nodes that miss steps
	}
	return finite(e.Noise), nil
}

// predicted returns what the Gram matrix says of Result.NoiseError, in expectation; nil where that would cost much, or
// is not known.
func (s *Study) predicted(ctx context.Context, n *Noise) (*float64, error) {
	if n == nil {
		return nil, nil
	}
	s.making.Lock()
	defer s.making.Unlock()
	if v, there := s.predictions[n.Correlation]; there {
		return v, nil
	}
	if !s.foreseeable(n.Correlation) {
		return nil, nil
	}
	v, err := s.squaredError(ctx, n.Correlation)
	if errors.Is(err, workload.ErrNotExact) {
		return nil, nil // of single nodes
	}
	if err != nil {
		return nil, err
	}
	s.predictions[n.Correlation] = finite(v)
	return finite(v), nil
}

// foreseeable reports whether predictions for a correlation cost little beside the runs.
func (s *Study) foreseeable(c *Correlation) bool {
	nodes, steps := float64(len(c.of)), float64(s.config.Schema.Steps())
	static := s.config.Workload.IsStatic()
	switch {
	case len(c.layers) > 1 || c.levels != nil && c.shared == nil:
		return nodes*steps*steps*steps <= freeNodeGrams && (static || nodes*steps <= freeChanging)
	case c.shared != nil:
		return static && nodes*steps <= freeGram
	case s.made != nil || s.methodOf(Cell{Method: Mafalda}) >= 0:
		return true
	case static:
		return nodes*steps <= freeGram
	}
	return nodes*steps <= freeChanging
}

// squaredError returns Σ_u tr(C_u⁻ᵀ H_u C_u⁻¹), times the squared part of node u, where nodes have levels of their own.
func (s *Study) squaredError(ctx context.Context, c *Correlation) (float64, error) {
	if c.shared != nil {
		return s.sharedError(ctx, c)
	}
	if len(c.layers) == 1 && c.levels == nil {
		h, err := s.gram(ctx)
		if err != nil {
			return 0, err
		}
		return c.squaredError(0, h)
	}
	var sum float64
	err := workload.NodeGrams(ctx, s.config.Gossip, s.config.Schema.Steps(), workload.Options{Spec: s.config.trained()},
		func(u int, h *mat.SymDense) error {
			e, err := c.squaredError(u, h)
			sum += math.Pow(c.level(u).part, 2) * e
			return cmp.Or(err, ctx.Err())
		})
	return sum, err
}

// squaredError returns tr(C⁻ᵀHC⁻¹) of the strategy of a node.
func (c *Correlation) squaredError(node int, h *mat.SymDense) (float64, error) {
	q, err := factorize.Evaluate(c.layers[c.of[node]].strategy, factorize.Mean(h), c.schema)
	return q.SquaredError, err
}

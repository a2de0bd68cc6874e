package simulate

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/mat"

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
		h, err := s.gramOf(ctx, s.config.trained())
		if err != nil {
			return nil, err
		}
		s.made = h
	}
	return s.made, nil
}

// gramOf returns the Gram matrix of a workload on the study's network: an estimate if there is no exact one.
func (s *Study) gramOf(ctx context.Context, spec workload.Spec) (*mat.SymDense, error) {
	w, steps := s.config.Gossip, s.config.Schema.Steps()
	err := spec.Exact(w)
	switch {
	case errors.Is(err, workload.ErrNotExact):
		sampled, err := workload.NewSampled(ctx, w, steps, workload.SampledOptions{Spec: spec, Probes: estimateProbes})
		if err != nil {
			return nil, err
		}
		return sampled.Kernel(steps).Gram(), nil
	case err != nil:
		return nil, err
	}
	return workload.Gram(ctx, w, steps, workload.Options{Spec: spec})
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
		return c.layers[0].squaredError(h), nil
	}
	var sum float64
	err := workload.NodeGrams(ctx, s.config.Gossip, s.config.Schema.Steps(), workload.Options{Spec: s.config.trained()},
		func(u int, h *mat.SymDense) error {
			part := c.level(u).part
			sum += part * part * c.layers[c.of[u]].squaredError(h)
			return ctx.Err()
		})
	return sum, err
}

// squaredError returns tr(C⁻ᵀHC⁻¹), of the C⁻¹ that runs use.
func (l *layer) squaredError(h *mat.SymDense) float64 {
	steps := l.noising.N
	noising := mat.NewDense(steps, steps, nil)
	for t := range steps {
		for r := range t + 1 {
			noising.Set(t, r, float64(l.noising.Data[t*steps+r]))
		}
	}
	var product mat.Dense
	product.Mul(h, noising)
	var sum float64
	for t := range steps {
		for r := range t + 1 {
			sum += product.At(t, r) * noising.At(t, r)
		}
	}
	return sum
}

package workload

import (
	"slices"

	"mafalda/graph"
)

// On returns the spec with the networks that take turns on n, if n has any. It fails as NewSequence does.
func (s Spec) On(n *graph.Network) (Spec, error) {
	if n == nil || n.Sequence == nil {
		return s, nil
	}
	q, err := NewSequence(n.Sequence.Matrices, n.Sequence.Source)
	s.GraphSequence = q
	return s, err
}

// Attached returns the spec of an export with the networks that take turns on n, which must be those that it was made
// for, or it fails. Where n has none the spec is as it was.
func (s Spec) Attached(n *graph.Network) (Spec, error) {
	if s.GraphSequence == nil || n == nil || n.Sequence == nil {
		return s, nil
	}
	on, err := s.On(n)
	if err == nil {
		s.GraphSequence, err = s.GraphSequence.Attach(on.GraphSequence)
	}
	return s, err
}

// CountsAll reports whether the errors of all steps count alike.
func (s Spec) CountsAll() bool { return s.Weights.allOne() }

// Counted returns the sum of what the steps count: T if all count alike. The spec must have been checked for T = steps.
func (s Spec) Counted(steps int) float64 {
	weights, err := s.Weights.Vector(steps)
	if err != nil {
		panic(err)
	}
	var sum float64
	for _, w := range weights {
		sum += w
	}
	return sum
}

// HasFreeNoise reports whether the noise of some steps costs nothing, or no more than rounding, so that the Gram matrix
// may be singular: there are steps that do not count, or whose rate is 0. The spec must have been checked for T =
// steps.
func (s Spec) HasFreeNoise(steps int) bool {
	if s.Weights.list == nil && s.Weights.last == 0 && s.LearningRates.form == constantRates {
		return false
	}
	weights, err := s.Weights.Vector(steps)
	return err != nil || slices.Contains(weights, 0) || slices.Contains(s.rates(steps), 0)
}

// Under returns the sketch of the same network for another workload on it, which must be static, and not Prefix.
func (s *Sketch) Under(spec Spec, c Curvature) *Sketch {
	other := *s
	other.spec = Options{Spec: spec, Curvature: c}
	return &other
}

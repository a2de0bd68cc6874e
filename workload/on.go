package workload

import "mafalda/graph"

// On returns the spec with the networks that take turns on n, if n has such. The errors are those of NewSequence.
func (s Spec) On(n *graph.Network) (Spec, error) {
	if n == nil || n.Sequence == nil {
		return s, nil
	}
	q, err := NewSequence(n.Sequence.Matrices, n.Sequence.Source)
	s.GraphSequence = q
	return s, err
}

package dpps

import (
	"fmt"

	"mafalda/graph"
	"mafalda/internal/lists"
)

// LoadSequence reads a sequence of directed graphs: an edge list "u v" (u sends to v) for each round, rounds separated by
// empty lines (graph.LoadSequence). All nodes that are named somewhere take part; those without edges in a round keep
// their values. With graph.Uniform a node divides its value evenly between itself and those it sends to, which is doubly
// stochastic only if everybody receives as much as it gives; with graph.Metropolis edges have no direction. Errors wrap
// ErrNetwork and name the file.
func LoadSequence(path string, scheme graph.Scheme) (*Sequence, error) {
	g, _, err := graph.Load(path, graph.LoadOptions{Directed: scheme != graph.Metropolis})
	if err == nil && g.Weighted() {
		err = fmt.Errorf("%s: its edges have weights, which are made from the edges: leave them out", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNetwork, err)
	}
	rounds, err := graph.LoadSequence(path, g, scheme)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNetwork, err)
	}
	s, err := NewSequence(g.Labels(), lists.Map(rounds.Matrices, (*graph.CSR).Transpose))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

package dpps

import (
	"fmt"
	"io"
	"strings"

	"mafalda/graph"
	"mafalda/internal/files"
)

// Weighting makes a weight matrix of the edges of a round, "u sends to v".
type Weighting int

const (
	// OutDegree weights: a node divides its value evenly between itself and those it sends to. Doubly stochastic only
	// if everybody receives as much as it gives.
	OutDegree Weighting = iota
	// MetropolisWeights need every edge in both directions, and are always doubly stochastic.
	MetropolisWeights
)

// ReadSequence reads a sequence of directed graphs: an edge list "u v" (u sends to v) for each round, rounds
// separated by empty lines, comments starting with # or %. All nodes that are named somewhere take part; those
// without edges in a round keep their values. With MetropolisWeights edges have no direction. Errors wrap ErrNetwork
// and name the source and the line.
func ReadSequence(r io.Reader, source string, weighting Weighting) (*Sequence, error) {
	var labels []string
	number := map[string]int{}
	node := func(label string) int {
		i, ok := number[label]
		if !ok {
			i = len(labels)
			number[label] = i
			labels = append(labels, label)
		}
		return i
	}
	var rounds []map[[2]int]bool
	ended := true // the round before
	_, err := files.Lines(r, source, func(line string, _ int) error {
		fields := strings.Fields(line)
		switch {
		case line == "":
			ended = true
			return nil
		case line[0] == '#' || line[0] == '%':
			return nil
		case len(fields) != 2:
			return fmt.Errorf("%q is not two labels \"u v\" (weights are made from the edges)", line)
		}
		if err := graph.CheckLabel(fields[0] + fields[1]); err != nil {
			return err
		}
		from, to := node(fields[0]), node(fields[1])
		switch {
		case from == to: // everybody has a self-loop
			return nil
		case weighting == MetropolisWeights:
			from, to = min(from, to), max(from, to)
		}
		if ended {
			rounds, ended = append(rounds, map[[2]int]bool{}), false
		}
		rounds[len(rounds)-1][[2]int{from, to}] = true
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNetwork, err)
	}
	if len(rounds) == 0 {
		return nil, fmt.Errorf("%w: %s: no edges", ErrNetwork, source)
	}
	var weights []*graph.CSR
	for _, edges := range rounds {
		w, err := weighting.matrix(labels, edges)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrNetwork, source, err)
		}
		weights = append(weights, w)
	}
	s, err := NewSequence(labels, weights)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return s, nil
}

// matrix returns the weights of a round: uniform gossip is what a node sends, divided evenly, row by row.
func (w Weighting) matrix(labels []string, edges map[[2]int]bool) (*graph.CSR, error) {
	scheme := graph.Uniform
	if w == MetropolisWeights {
		scheme = graph.Metropolis
	}
	list := make([]graph.Edge, 0, len(edges))
	for e := range edges {
		list = append(list, graph.Edge{U: e[0], V: e[1], Weight: 1})
	}
	g, err := graph.New(labels, list, w == OutDegree)
	if err != nil {
		return nil, err
	}
	gossip, err := graph.NewGossip(g, scheme)
	if err != nil {
		return nil, err
	}
	return gossip.Matrix().Transpose(), nil
}

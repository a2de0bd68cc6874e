package dpps

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"mafalda/graph"
	"mafalda/internal/lists"
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
	var rounds [][][2]int
	var current [][2]int
	flush := func() {
		if len(current) > 0 {
			rounds = append(rounds, current)
		}
		current = nil
	}
	scanner := bufio.NewScanner(r)
	line := 0
	for scanner.Scan() {
		line++
		text := strings.TrimSpace(strings.TrimPrefix(scanner.Text(), "\xef\xbb\xbf"))
		switch fields := strings.Fields(text); {
		case text == "":
			flush()
		case text[0] == '#' || text[0] == '%':
		case len(fields) != 2:
			return nil, fmt.Errorf("%w: %s:%d: %q is not two labels \"u v\" (weights are made from the edges)",
				ErrNetwork, source, line, text)
		case graph.CheckLabel(fields[0]+fields[1]) != nil:
			return nil, fmt.Errorf("%w: %s:%d: %w", ErrNetwork, source, line, graph.CheckLabel(fields[0]+fields[1]))
		case fields[0] != fields[1]:
			current = append(current, [2]int{node(fields[0]), node(fields[1])})
		default:
			node(fields[0]) // everybody has a self-loop
		}
	}
	if err := scanner.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = errors.New("a line is too long")
		}
		return nil, fmt.Errorf("%w: %s:%d: %w", ErrNetwork, source, line+1, err)
	}
	flush()
	if len(rounds) == 0 {
		return nil, fmt.Errorf("%w: %s: no edges", ErrNetwork, source)
	}
	weights := lists.Map(rounds, func(edges [][2]int) *graph.CSR { return weighting.matrix(len(labels), edges) })
	s, err := NewSequence(labels, weights)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return s, nil
}

// matrix returns the weights of a round.
func (w Weighting) matrix(n int, edges [][2]int) *graph.CSR {
	rows := make([]map[int]float64, n) // rows[i][j] > 0: i receives from j
	for i := range rows {
		rows[i] = map[int]float64{}
	}
	for _, e := range edges {
		rows[e[1]][e[0]] = 1
		if w == MetropolisWeights {
			rows[e[0]][e[1]] = 1
		}
	}
	degree := make([]int, n) // of what a node sends; with both directions also of what it receives
	for _, row := range rows {
		for j := range row {
			degree[j]++
		}
	}
	var entries []graph.Edge
	for i, row := range rows {
		left := 1.0
		for _, j := range slices.Sorted(maps.Keys(row)) { // in this order, for it decides what left is rounded to
			if w == MetropolisWeights {
				row[j] = 1 / float64(1+max(degree[i], degree[j]))
				left -= row[j]
			} else {
				row[j] = 1 / float64(1+degree[j])
			}
		}
		row[i] = left
		if w == OutDegree {
			row[i] = 1 / float64(1+degree[i])
		}
		for _, j := range slices.Sorted(maps.Keys(row)) {
			entries = append(entries, graph.Edge{U: i, V: j, Weight: row[j]})
		}
	}
	return graph.NewSquare(n, entries)
}

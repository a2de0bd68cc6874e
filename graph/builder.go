package graph

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// builder collects labelled edges as they come from a file.
type builder struct {
	directed   bool
	number     map[string]int
	labels     []string
	edges      []lineEdge
	selfLoops  int
	duplicates int
	lines      int // of the file
}

// lineEdge is an edge with the line it came from.
type lineEdge struct {
	Edge
	line int
}

func newBuilder(directed bool) *builder {
	return &builder{directed: directed, number: map[string]int{}}
}

func (b *builder) node(label string) int {
	i, ok := b.number[label]
	if !ok {
		i = len(b.labels)
		label = strings.Clone(label) // not a view of the whole line
		b.labels = append(b.labels, label)
		b.number[label] = i
	}
	return i
}

func (b *builder) add(u, v string, weight float64, line int) {
	i, j := b.node(u), b.node(v)
	if i == j {
		b.selfLoops++
		return
	}
	b.edges = append(b.edges, lineEdge{Edge{i, j, weight}, line})
}

// startsWithHeader reports whether the first two labels, of the first edge, are the only ones that are no integers and
// stand in no other edge: a header line of a CSV file, which must not become two nodes.
func (b *builder) startsWithHeader() bool {
	if len(b.labels) < 4 || b.edges[0].U != 0 || b.edges[0].V != 1 {
		return false
	}
	for i, l := range b.labels {
		if _, ok := new(big.Int).SetString(l, 10); ok == (i < 2) {
			return false
		}
	}
	for _, e := range b.edges[1:] {
		if e.U < 2 || e.V < 2 {
			return false
		}
	}
	return true
}

// graph numbers the nodes by label, drops duplicates and makes the graph. A duplicate of another weight is an error.
func (b *builder) graph(source string) (*Graph, error) {
	if len(b.labels) == 0 {
		return nil, fmt.Errorf("%s: %w", source, ErrNoNodes)
	}
	if len(b.edges) == 0 {
		return nil, fmt.Errorf("%s: %w between different nodes (%d self-loops)", source, ErrNoEdges, b.selfLoops)
	}
	if b.startsWithHeader() {
		return nil, fmt.Errorf("%s:%d: %q and %q look like the names of columns, all other nodes are integers: delete the line or start it with #",
			source, b.edges[0].line, b.labels[0], b.labels[1])
	}
	order := labelOrder(b.labels)
	labels := make([]string, len(order))
	rank := make([]int, len(order))
	for i, old := range order {
		labels[i], rank[old] = b.labels[old], i
	}
	for i := range b.edges {
		e := &b.edges[i]
		e.U, e.V = rank[e.U], rank[e.V]
		if !b.directed && e.U > e.V {
			e.U, e.V = e.V, e.U
		}
	}
	slices.SortFunc(b.edges, func(x, y lineEdge) int {
		if c := compareEdges(x.Edge, y.Edge); c != 0 {
			return c
		}
		return x.line - y.line
	})
	edges := make([]Edge, 0, len(b.edges))
	first := 0 // line of the edge last kept
	for _, e := range b.edges {
		if last := len(edges) - 1; last >= 0 && edges[last].U == e.U && edges[last].V == e.V {
			if edges[last].Weight != e.Weight {
				return nil, fmt.Errorf("%s:%d: edge %s %s has the weight %v, but %v in line %d", source, e.line,
					labels[e.U], labels[e.V], e.Weight, edges[last].Weight, first)
			}
			b.duplicates++
			continue
		}
		edges = append(edges, e.Edge)
		first = e.line
	}
	return newGraph(labels, edges, b.directed)
}

// parseWeight reads a weight: a positive finite number.
func parseWeight(s string) (float64, error) {
	w, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil:
		return 0, fmt.Errorf("weight %q is not a number", s)
	case math.IsNaN(w) || math.IsInf(w, 0) || w <= 0:
		return 0, fmt.Errorf("weight %s: must be positive and finite", s)
	}
	return w, nil
}

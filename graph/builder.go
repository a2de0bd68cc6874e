package graph

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// builder collects labelled edges as they come from a file.
type builder struct {
	directed   bool
	number     map[string]int
	small      []int32 // by the value of a label that is a small integer: its number plus one
	labels     []string
	text       int // bytes of all labels
	edges      []lineEdge
	added      int // edges so far, those dropped again included
	first      lineEdge
	headless   bool // an edge after the first has one of its nodes
	crowd      crowd
	selfLoops  int
	duplicates int
	lines      int   // of the file
	err        error // the first label or edge that cannot be
}

// lineEdge is an edge with the line it came from.
type lineEdge struct {
	Edge
	line int
}

func newBuilder(directed bool) *builder {
	return &builder{directed: directed, number: map[string]int{}, crowd: newCrowd()}
}

func (b *builder) node(label string) int {
	if value := smallInteger(label); value >= 0 && value < 8*len(b.labels)+1<<16 && b.node32() {
		for value >= len(b.small) {
			b.small = append(b.small, make([]int32, max(1<<16, len(b.small)))...)
		}
		if b.small[value] == 0 {
			i, ok := b.number[label] // from when there were fewer nodes
			if !ok {
				i = b.append(label)
			}
			b.small[value] = int32(i + 1)
		}
		return int(b.small[value] - 1)
	}
	i, ok := b.number[label]
	if !ok {
		i = b.append(label)
		b.number[b.labels[i]] = i
	}
	return i
}

// node32 reports whether the next number fits.
func (b *builder) node32() bool { return len(b.labels) < math.MaxInt32-1 }

// append adds a label that is new.
func (b *builder) append(label string) int {
	b.labels = append(b.labels, strings.Clone(label)) // not a view of the whole line
	if err := CheckLabel(label); err != nil {
		b.fail(err)
	}
	before := b.text / textStep
	if b.text += len(label) + labelBytes; b.text/textStep > before {
		b.fail(b.checkRoom())
	}
	return len(b.labels) - 1
}

// smallInteger returns the value of a label of at most eight digits without leading zeros; -1 for others.
func smallInteger(label string) int {
	if len(label) == 0 || len(label) > 8 || label[0] == '0' && len(label) > 1 {
		return -1
	}
	value := 0
	for i := range len(label) {
		digit := label[i] - '0'
		if digit > 9 {
			return -1
		}
		value = 10*value + int(digit)
	}
	return value
}

// add adds an edge, unless it is a self-loop. What is wrong with it is in err.
func (b *builder) add(u, v string, weight float64, line int) error {
	i, j := b.node(u), b.node(v)
	if i == j {
		b.selfLoops++
		return b.err
	}
	e := lineEdge{Edge{i, j, weight}, line}
	if b.added == 0 {
		b.first = e
	} else if i < 2 || j < 2 {
		b.headless = true
	}
	b.added++
	b.edges = append(b.edges, e)
	if !b.directed && i > j {
		i, j = j, i
	}
	if b.crowd.meet(i, j); len(b.edges) >= b.crowd.full {
		b.fail(b.makeRoom())
	}
	return b.err
}

// fail keeps the first error.
func (b *builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// startsWithHeader reports whether the first two labels, of the first edge, are the only ones that are no integers and
// stand in no other edge: a header line of a CSV file, which must not become two nodes.
func (b *builder) startsWithHeader() bool {
	if len(b.labels) < 4 || b.first.U != 0 || b.first.V != 1 || b.headless {
		return false
	}
	for i, l := range b.labels {
		if _, ok := parseInteger(l); ok == (i < 2) {
			return false
		}
	}
	return true
}

// graph numbers the nodes by label, drops duplicates and makes the graph. A duplicate of another weight is an error.
func (b *builder) graph(source string) (*Graph, error) {
	if b.err != nil {
		return nil, fmt.Errorf("%s: %w", source, b.err)
	}
	if len(b.labels) == 0 {
		return nil, fmt.Errorf("%s: %w", source, ErrNoNodes)
	}
	if len(b.edges) == 0 {
		return nil, fmt.Errorf("%s: %w between different nodes (%d self-loops)", source, ErrNoEdges, b.selfLoops)
	}
	if b.startsWithHeader() {
		return nil, fmt.Errorf("%s:%d: %q and %q look like the names of columns, all other nodes are integers: "+
			"delete the line or start it with #",
			source, b.first.line, b.labels[0], b.labels[1])
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
	b.edges = sortLines(b.edges, len(labels))
	edges, duplicates, err := distinct(source, labels, b.edges)
	if err != nil {
		return nil, err
	}
	b.duplicates += duplicates
	b.edges = nil
	return newGraph(labels, edges, b.directed)
}

// distinct returns sorted edges without repetitions, and how many these were. A repeated edge of another weight is an
// error.
func distinct(source string, labels []string, sorted []lineEdge) (edges []Edge, duplicates int, err error) {
	edges = make([]Edge, 0, len(sorted))
	first := 0 // line of the edge last kept
	for _, e := range sorted {
		if last := len(edges) - 1; last >= 0 && edges[last].U == e.U && edges[last].V == e.V {
			if edges[last].Weight != e.Weight {
				return nil, 0, fmt.Errorf("%s:%d: edge %s %s has the weight %v, but %v in line %d", source, e.line,
					labels[e.U], labels[e.V], e.Weight, edges[last].Weight, first)
			}
			duplicates++
			continue
		}
		edges = append(edges, e.Edge)
		first = e.line
	}
	return edges, duplicates, nil
}

// sortLines orders edges by their nodes, of which there are so many, and then by line.
func sortLines(edges []lineEdge, nodes int) []lineEdge {
	return sortRows(edges, nodes, func(e *lineEdge) int { return e.U }, func(x, y lineEdge) int {
		if c := compareEdges(x.Edge, y.Edge); c != 0 {
			return c
		}
		return x.line - y.line
	})
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

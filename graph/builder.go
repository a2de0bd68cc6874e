package graph

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mafalda/internal/limits"
)

// What a file takes while its graph is made, in bytes: an edge, and a label beside its text. After roomStep bytes of both,
// or edgeStep entries, it is asked whether that can be.
const (
	edgeBytes  = 200
	labelBytes = 150
	roomStep   = 1 << 26
	edgeStep   = 1 << 20
)

// located is an edge with its line in a file.
type located struct {
	Edge
	line int
}

// builder collects the edges of a graph as they come from a file.
type builder struct {
	directed bool
	mirrored bool // an edge leads both ways, as all do that have no direction

	edges      []located
	taken      int // bytes of labels and edges
	selfLoops  int
	duplicates int
}

// add adds an edge, unless it is a self-loop.
func (b *builder) add(u, v int, weight float64, line int) error {
	if u == v {
		b.selfLoops++
		return nil
	}
	b.edges = append(b.edges, located{Edge{u, v, weight}, line})
	return b.take(edgeBytes)
}

// take counts bytes, and now and then refuses what cannot be held in memory.
func (b *builder) take(bytes int) error {
	before := b.taken
	if b.taken += bytes; b.taken/roomStep == before/roomStep {
		return nil
	}
	return limits.Fits(fmt.Sprintf("a graph of more than %d edges", len(b.edges)), float64(b.taken))
}

// makeGraph makes the graph on the nodes with these labels, whose numbers the edges are of, and drops duplicates. A
// duplicate of another weight is an error.
func (b *builder) makeGraph(labels []string, source string) (*Graph, error) {
	if len(labels) > math.MaxInt32 {
		return nil, fmt.Errorf("%s: at most %d nodes can be read", source, math.MaxInt32)
	}
	adjacency, err := squareOf(b.edges, len(labels), b.mirrored, func(first, e located) error {
		if first.Weight == e.Weight {
			return nil
		}
		return fmt.Errorf("%s:%d: edge %s %s has the weight %v, but %v in line %d", source, e.line, labels[e.U], labels[e.V],
			e.Weight, first.Weight, first.line)
	})
	if err != nil {
		return nil, err
	}
	ways := 1
	if b.mirrored {
		ways = 2
	}
	b.duplicates += len(b.edges) - adjacency.NNZ()/ways
	b.edges = nil
	return wrap(adjacency, labels, b.directed), nil
}

// noEdges is the error of a file without an edge.
func (b *builder) noEdges(source string) error {
	return fmt.Errorf("%s: %w between different nodes (%d self-loops)", source, ErrNoEdges, b.selfLoops)
}

// squareOf returns the n×n matrix of entries in any order. Mirrored, they are on the other side of the diagonal, too. It
// keeps the first of entries in one place, and asks repeated about every other one and the one before it.
func squareOf(entries []located, n int, mirrored bool, repeated func(first, again located) error) (*CSR, error) {
	starts := make([]int, n+1)
	each := func(visit func(e located)) {
		for _, e := range entries {
			visit(e)
			if e.U, e.V = e.V, e.U; mirrored && e.U != e.V {
				visit(e)
			}
		}
	}
	each(func(e located) { starts[e.U+1]++ })
	for u := range n {
		starts[u+1] += starts[u]
	}
	all, next := make([]located, starts[n]), slices.Clone(starts)
	each(func(e located) {
		all[next[e.U]] = e
		next[e.U]++
	})
	indptr, columns, data := make([]int, 1, n+1), make([]int32, 0, len(all)), make([]float64, 0, len(all))
	for u := range n {
		row := all[starts[u]:starts[u+1]]
		slices.SortFunc(row, func(a, b located) int { return cmp.Or(a.V-b.V, a.line-b.line) })
		for i, e := range row {
			if i == 0 || row[i-1].V != e.V {
				columns, data = append(columns, int32(e.V)), append(data, e.Weight)
			} else if err := repeated(row[i-1], e); err != nil {
				return nil, err
			}
		}
		indptr = append(indptr, len(columns))
	}
	return newCSR(n, n, indptr, columns, data), nil
}

// labelled is a builder of edges between labels, which have the order in which they come as numbers.
type labelled struct {
	builder
	labels []string
	number map[string]int
	small  []int // numbers of labels that are small integers, plus 1; 0: no label yet
}

func newBuilder(directed bool) *labelled {
	return &labelled{builder: builder{directed: directed, mirrored: !directed}, number: map[string]int{}}
}

// node returns the number of the node with a label, which it adds if it is new.
func (b *labelled) node(label string) (int, error) {
	value := smallInteger(label)
	if value < 0 {
		if i, ok := b.number[label]; ok {
			return i, nil
		}
	} else if value < len(b.small) && b.small[value] > 0 {
		return b.small[value] - 1, nil
	}
	i, label := len(b.labels), strings.Clone(label) // no view of a whole line
	b.labels = append(b.labels, label)
	if value < 0 {
		b.number[label] = i
	} else {
		if more := value + 1 - len(b.small); more > 0 {
			b.small = append(b.small, make([]int, max(more, len(b.small)))...)
		}
		b.small[value] = i + 1
	}
	return i, errors.Join(CheckLabel(label), b.take(len(label)+labelBytes))
}

// smallInteger returns the value of a label of at most seven digits without leading zeros, which is faster found than
// other labels; -1 for those.
func smallInteger(label string) int {
	if len(label) == 0 || len(label) > 7 || label[0] == '0' && len(label) > 1 {
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

// join adds an edge between labels, unless it is a self-loop.
func (b *labelled) join(u, v string, weight float64, line int) error {
	i, err := b.node(u)
	if err != nil {
		return err
	}
	j, err := b.node(v)
	if err != nil {
		return err
	}
	return b.add(i, j, weight, line)
}

// startsWithHeader reports whether the labels of the first edge are the only ones that are no integers, and stand in no
// other edge: a header line of a CSV file, which must not become two nodes.
func (b *labelled) startsWithHeader() bool {
	first := b.edges[0]
	isTitle := func(i int) bool { return i == first.U || i == first.V }
	if len(b.labels) < 4 || slices.ContainsFunc(b.edges[1:], func(e located) bool { return isTitle(e.U) || isTitle(e.V) }) {
		return false
	}
	for i, l := range b.labels {
		if _, ok := parseInteger(l); ok == isTitle(i) {
			return false
		}
	}
	return true
}

// graph numbers the nodes by label and makes the graph, as makeGraph does.
func (b *labelled) graph(source string) (*Graph, error) {
	switch {
	case len(b.labels) == 0:
		return nil, fmt.Errorf("%s: %w", source, ErrNoNodes)
	case len(b.edges) == 0:
		return nil, b.noEdges(source)
	case b.startsWithHeader():
		e := b.edges[0]
		return nil, fmt.Errorf("%s:%d: %q and %q look like the names of columns, all other nodes are integers: "+
			"delete the line or start it with #", source, e.line, b.labels[e.U], b.labels[e.V])
	}
	return b.makeGraph(b.rank(), source)
}

// rank replaces the numbers of the edges by the places of their labels in the order of all labels (labelOrder), which it
// returns.
func (b *labelled) rank() []string {
	place, labels := make([]int, len(b.labels)), make([]string, len(b.labels))
	for i, old := range labelOrder(b.labels) {
		place[old], labels[i] = i, b.labels[old]
	}
	for i, e := range b.edges {
		b.edges[i].U, b.edges[i].V = place[e.U], place[e.V]
	}
	return labels
}

// parseWeight reads a weight: a positive finite number.
func parseWeight(s string) (float64, error) {
	w, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil:
		return 0, fmt.Errorf("weight %q is not a number", s)
	case !isWeight(w):
		return 0, fmt.Errorf("weight %s: must be positive and finite", s)
	}
	return w, nil
}

func isWeight(w float64) bool { return w > 0 && !math.IsInf(w, 1) }

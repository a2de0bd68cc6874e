package graph

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mafalda/internal/limits"
	"mafalda/internal/parallel"
)

// What a file takes while its graph is made, in bytes: an edge, and a label beside its text. After roomStep bytes of both,
// or edgeStep entries, it is asked whether that can be.
const (
	edgeBytes  = 200
	labelBytes = 150
	roomStep   = 1 << 26
	edgeStep   = 1 << 20
)

// builder collects labelled edges as they come from a file. Nodes have codes meanwhile: the value of a label that is a
// small integer (smallInteger), and -1 - the place of any other label among the names.
type builder struct {
	directed bool
	plain    bool // no edge has a weight: marks are not kept

	small      []bool // whether the small integer v is a label
	numbers    int    // number of labels that are small integers
	names      []string
	code       map[string]int32 // codes of names
	pairs      []pair
	marks      []mark // marks of the pairs, unless plain
	taken      int    // bytes of labels and edges
	firstLine  int    // the line of the first edge
	selfLoops  int
	duplicates int
	lines      int   // number of lines of the file
	err        error // the first label or edge that cannot be
}

// pair is an edge between two numbers.
type pair struct{ u, v int32 }

// mark is what an edge has beside its nodes.
type mark struct {
	weight float64
	line   int
}

func newBuilder(directed bool) *builder {
	return &builder{directed: directed, code: map[string]int32{}}
}

// node returns the code of the node with a label, which it adds if it is new.
func (b *builder) node(label string) int32 {
	value := smallInteger(label)
	if value >= 0 {
		if more := value + 1 - len(b.small); more > 0 {
			b.small = append(b.small, make([]bool, max(more, len(b.small)))...)
		}
		if b.small[value] {
			return int32(value)
		}
		b.small[value] = true
		b.numbers++
	} else {
		if code, ok := b.code[label]; ok {
			return code
		}
		if err := CheckLabel(label); err != nil {
			b.fail(err)
		}
		label = strings.Clone(label) // no view of a whole line
		b.names = append(b.names, label)
		value = -len(b.names)
		b.code[label] = int32(value)
	}
	b.take(len(label) + labelBytes)
	return int32(value)
}

// count returns the number of labels.
func (b *builder) count() int { return b.numbers + len(b.names) }

// smallInteger returns the value of a label of at most seven digits without leading zeros; -1 for others.
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

// add adds an edge, unless it is a self-loop. What is wrong with it is in err.
func (b *builder) add(u, v string, weight float64, line int) error {
	p := pair{b.node(u), b.node(v)}
	if p.u == p.v {
		b.selfLoops++
		return b.err
	}
	if len(b.pairs) == 0 {
		b.firstLine = line
	}
	b.pairs = append(b.pairs, p)
	if !b.plain {
		b.marks = append(b.marks, mark{weight, line})
	}
	b.take(edgeBytes)
	return b.err
}

// take counts bytes, and now and then refuses what cannot be held in memory.
func (b *builder) take(bytes int) {
	before := b.taken
	if b.taken += bytes; b.taken/roomStep > before/roomStep {
		b.fail(limits.Fits(fmt.Sprintf("a graph of more than %d edges and %d nodes", len(b.pairs), b.count()),
			float64(b.taken)))
		if max(len(b.pairs), b.count()) > math.MaxInt32-roomStep {
			b.fail(errors.New("at most 2 billion edges and nodes can be read"))
		}
	}
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
	title := func(p pair) bool { return p.u == -1 || p.v == -1 || p.u == -2 || p.v == -2 }
	if b.count() < 4 || b.pairs[0] != (pair{-1, -2}) || slices.ContainsFunc(b.pairs[1:], title) {
		return false
	}
	for i, l := range b.names {
		if _, ok := parseInteger(l); ok == (i < 2) {
			return false
		}
	}
	return true
}

// graph numbers the nodes by label and makes the graph, as makeGraph does.
func (b *builder) graph(source string) (*Graph, error) {
	if b.err != nil {
		return nil, fmt.Errorf("%s: %w", source, b.err)
	}
	if b.count() == 0 {
		return nil, fmt.Errorf("%s: %w", source, ErrNoNodes)
	}
	if len(b.pairs) == 0 {
		return nil, fmt.Errorf("%s: %w between different nodes (%d self-loops)", source, ErrNoEdges, b.selfLoops)
	}
	if b.startsWithHeader() {
		return nil, fmt.Errorf("%s:%d: %q and %q look like the names of columns, all other nodes are integers: "+
			"delete the line or start it with #",
			source, b.firstLine, b.names[0], b.names[1])
	}
	return b.makeGraph(b.rank(), source)
}

// rank replaces the codes of the pairs by the places of their labels in the order of all labels (labelOrder), which it
// returns.
func (b *builder) rank() []string {
	labels := make([]string, 0, b.count())
	place := make([]int32, len(b.small))
	for value, is := range b.small {
		if is {
			place[value] = int32(len(labels))
			labels = append(labels, strconv.Itoa(value))
		}
	}
	at := func(code int32) int32 { return place[code] }
	if len(b.names) > 0 {
		unordered, rank := append(labels, b.names...), make([]int32, b.count())
		labels = labels[:0:0]
		for i, old := range labelOrder(unordered) {
			labels, rank[old] = append(labels, unordered[old]), int32(i)
		}
		at = func(code int32) int32 {
			if code < 0 {
				return rank[b.numbers-1-int(code)]
			}
			return rank[place[code]]
		}
	}
	parallel.Chunks(len(b.pairs), func(_, from, to int) {
		for i, p := range b.pairs[from:to] {
			b.pairs[from+i] = pair{at(p.u), at(p.v)}
		}
	})
	return labels
}

// makeGraph makes the graph on the nodes with these labels, whose numbers the pairs are of, and drops duplicates. A duplicate of
// another weight is an error.
func (b *builder) makeGraph(labels []string, source string) (*Graph, error) {
	weight := func(i int) float64 { return b.marks[i].weight }
	if b.plain {
		weight = func(int) float64 { return 1 }
	}
	adjacency, differ := adjacencyOf(b.pairs, len(labels), b.directed, true, weight)
	if differ != nil {
		e, first := b.marks[differ.edge], b.marks[differ.first]
		return nil, fmt.Errorf("%s:%d: edge %s %s has the weight %v, but %v in line %d", source, e.line,
			labels[differ.u], labels[differ.v], e.weight, first.weight, first.line)
	}
	g := wrap(adjacency, labels, b.directed)
	b.duplicates += len(b.pairs) - g.Edges()
	b.pairs, b.marks = nil, nil
	return g, nil
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

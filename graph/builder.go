package graph

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"mafalda/internal/parallel"
)

// builder collects labelled edges as they come from a file.
type builder struct {
	directed bool
	plain    bool // no edge has a weight: marks are not kept

	labels     labelSet
	pairs      []pair
	marks      []mark // of the pairs, unless plain
	added      int    // edges so far, those dropped again included
	titled     bool   // the first edge is between the first two labels, which are no small integers
	firstLine  int    // the line of the first edge
	headless   bool   // an edge after the first has one of its nodes
	crowd      crowd
	selfLoops  int
	duplicates int
	bytes      int64 // of the file, if that is known
	lines      int   // of the file
	err        error // the first label or edge that cannot be
}

// pair is an edge between labels, by their codes.
type pair struct{ u, v int32 }

// mark is what an edge has beside its nodes.
type mark struct {
	weight float64
	line   int
}

func newBuilder(directed bool) *builder {
	return &builder{directed: directed, labels: labelSet{code: map[string]int32{}}, crowd: newCrowd()}
}

// node adds the node with a label, if it is new, and returns the label's code.
func (b *builder) node(label string) int32 {
	if value := smallInteger(label); value >= 0 {
		b.number(int32(value))
		return int32(value)
	}
	return b.name(label)
}

// number is node for small integers.
func (b *builder) number(value int32) {
	if before := b.labels.text; b.labels.addNumber(value) {
		b.makeLabelRoom(before)
	}
}

// name is node for other labels.
func (b *builder) name(label string) int32 {
	before := b.labels.text
	code, isNew := b.labels.addName(label)
	if isNew {
		if err := CheckLabel(label); err != nil {
			b.fail(err)
		}
		b.makeLabelRoom(before)
	}
	return code
}

// makeLabelRoom refuses labels that cannot be held in memory, or numbered, after the last new one.
func (b *builder) makeLabelRoom(before int) {
	if b.labels.count() == math.MaxInt32 {
		b.fail(fmt.Errorf("at most %d nodes can be read", math.MaxInt32-1))
	}
	if b.labels.text/textStep > before/textStep {
		b.fail(b.checkRoom())
	}
}

// add adds an edge, unless it is a self-loop. What is wrong with it is in err.
func (b *builder) add(u, v string, weight float64, line int) error {
	return b.link(b.node(u), b.node(v), weight, line)
}

// link is add for nodes that are there, by their labels' codes.
func (b *builder) link(u, v int32, weight float64, line int) error {
	if u == v {
		b.selfLoops++
		return b.err
	}
	p := pair{u, v}
	if b.added == 0 {
		b.titled, b.firstLine = p == (pair{-1, -2}) && b.labels.count() == 2, line
	} else if b.titled && (isTitle(u) || isTitle(v)) {
		b.headless = true
	}
	b.added++
	if len(b.pairs) == cap(b.pairs) {
		b.pairs = slices.Grow(b.pairs, max(1<<12, len(b.pairs)))
	}
	b.pairs = append(b.pairs, p)
	if !b.plain {
		b.marks = append(b.marks, mark{weight, line})
	}
	if b.crowd.meet(b.oriented(u, v)); len(b.pairs) >= b.crowd.full {
		b.fail(b.makeRoom())
	}
	return b.err
}

// isTitle reports whether a label's code is of one of the first two that are no small integers.
func isTitle(code int32) bool { return code == -1 || code == -2 }

// mostExpected is how many edges there is room for at most before they are read.
const mostExpected = 1 << 26

// expect makes room for the edges of the file if it goes on like its first part, of so many bytes and edges.
func (b *builder) expect(edges, bytes int) {
	if whole := float64(edges) / float64(max(bytes, 1)) * float64(b.bytes); len(b.pairs) == 0 && b.bytes > int64(bytes) {
		b.pairs = make([]pair, 0, int(math.Min(1.05*whole, mostExpected))) // touched when it is filled
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
	if b.labels.count() < 4 || !b.titled || b.headless {
		return false
	}
	for i, l := range b.labels.names {
		if _, ok := parseInteger(l); ok == (i < 2) {
			return false
		}
	}
	return true
}

// graph numbers the nodes by label and makes the graph, as on does.
func (b *builder) graph(source string) (*Graph, error) {
	if b.err != nil {
		return nil, fmt.Errorf("%s: %w", source, b.err)
	}
	if b.labels.count() == 0 {
		return nil, fmt.Errorf("%s: %w", source, ErrNoNodes)
	}
	if len(b.pairs) == 0 {
		return nil, fmt.Errorf("%s: %w between different nodes (%d self-loops)", source, ErrNoEdges, b.selfLoops)
	}
	if b.startsWithHeader() {
		return nil, fmt.Errorf("%s:%d: %q and %q look like the names of columns, all other nodes are integers: "+
			"delete the line or start it with #",
			source, b.firstLine, b.labels.names[0], b.labels.names[1])
	}
	return b.on(b.rank(), source)
}

// on makes the graph on the nodes with these labels, whose numbers the pairs are of, and drops duplicates. A duplicate of
// another weight is an error.
func (b *builder) on(labels []string, source string) (*Graph, error) {
	pairs := len(b.pairs)
	var adjacency *CSR
	if b.plain {
		adjacency = b.plainAdjacency(len(labels))
	} else {
		var differ *conflict
		if adjacency, differ = b.weightedAdjacency(len(labels)); differ != nil {
			e, first := b.marks[differ.edge], b.marks[differ.first]
			return nil, fmt.Errorf("%s:%d: edge %s %s has the weight %v, but %v in line %d", source, e.line,
				labels[differ.u], labels[differ.v], e.weight, first.weight, first.line)
		}
	}
	b.marks = nil
	g := wrap(adjacency, labels, b.directed)
	b.duplicates += pairs - g.Edges()
	return g, nil
}

// oriented returns an edge as it is if edges have a direction, and else with the smaller node first.
func (b *builder) oriented(u, v int32) pair {
	if !b.directed && u > v {
		u, v = v, u
	}
	return pair{u, v}
}

// rank replaces the codes of the pairs by the places of their labels in the order of all labels (labelOrder), which it
// returns.
func (b *builder) rank() []string {
	n := b.labels.numbering()
	labels := b.labels.labels(n)
	place := func(code int32) int32 { return n.of(code) }
	if len(b.labels.names) > 0 {
		ordered, rank := make([]string, len(labels)), make([]int32, len(labels))
		for i, old := range labelOrder(labels) {
			ordered[i], rank[old] = labels[old], int32(i)
		}
		labels, place = ordered, func(code int32) int32 { return rank[n.of(code)] }
	}
	b.labels = labelSet{}
	parallel.Chunks(len(b.pairs), func(_, from, to int) {
		for i, p := range b.pairs[from:to] {
			b.pairs[from+i] = b.oriented(place(p.u), place(p.v))
		}
	})
	return labels
}

// errManyEdges is about more edges than have numbers.
var errManyEdges = errors.New("at most 4294967295 edges can be read")

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

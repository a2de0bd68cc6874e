package graph

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"mafalda/internal/parallel"
)

// builder collects labelled edges as they come from a file.
type builder struct {
	directed bool
	plain    bool // no edge has a weight: marks are not kept

	table  []int32         // by the value of a label that is a small integer: its number plus one
	direct int             // below which values are in the table, however few labels there are
	far    map[int32]int32 // the same for values that were too large for the table when they came
	number map[string]int  // numbers of all other labels
	labels []string
	values []int32 // of labels that are small integers; -1: another label
	others int     // labels that are none
	recent strings.Builder
	text   int // bytes of all labels

	pairs      []pair
	marks      []mark // of the pairs, unless plain
	added      int    // edges so far, those dropped again included
	first      pair   // of which a title would be made
	firstLine  int
	headless   bool // an edge after the first has one of its nodes
	crowd      crowd
	selfLoops  int
	duplicates int
	bytes      int64 // of the file, if that is known
	lines      int   // of the file
	err        error // the first label or edge that cannot be
}

// pair is an edge between nodes in the order in which they came.
type pair struct{ u, v int32 }

// mark is what an edge has beside its nodes.
type mark struct {
	weight float64
	line   int
}

func newBuilder(directed bool) *builder {
	return &builder{directed: directed, direct: 1 << 22, far: map[int32]int32{}, number: map[string]int{},
		crowd: newCrowd()}
}

// node returns the number of the node with a label.
func (b *builder) node(label string) int {
	if value := smallInteger(label); value >= 0 {
		return b.valued(int32(value))
	}
	i, ok := b.number[label]
	if !ok {
		i = b.append(label, -1)
		b.number[b.labels[i]] = i
	}
	return i
}

// valued returns the number of the node whose label is a small integer.
func (b *builder) valued(value int32) int {
	if int(value) < len(b.table) {
		if i := b.table[value]; i != 0 {
			return int(i - 1)
		}
	}
	i, isFar := b.far[value]
	if i == 0 {
		i = int32(b.append(strconv.Itoa(int(value)), value) + 1)
	}
	if int(value) < 8*len(b.labels)+b.direct {
		for int(value) >= len(b.table) {
			b.table = append(b.table, make([]int32, max(1<<16, len(b.table)))...)
		}
		b.table[value] = i
	} else if !isFar {
		b.far[value] = i
	}
	return int(i - 1)
}

// append adds a label that is new, and its value if it is a small integer.
func (b *builder) append(label string, value int32) int {
	b.labels, b.values = append(b.labels, b.keep(label)), append(b.values, value)
	if value < 0 {
		b.others++
		if err := CheckLabel(label); err != nil {
			b.fail(err)
		}
	}
	if len(b.labels) == math.MaxInt32 {
		b.fail(fmt.Errorf("at most %d nodes can be read", math.MaxInt32-1))
	}
	before := b.text / textStep
	if b.text += len(label) + labelBytes; b.text/textStep > before {
		b.fail(b.checkRoom())
	}
	return len(b.labels) - 1
}

// keep returns a copy of a label, which is not a view of a whole line. Short ones share their memory.
func (b *builder) keep(label string) string {
	const room = 1 << 12
	if len(label) > room/16 {
		return strings.Clone(label)
	}
	if b.recent.Cap()-b.recent.Len() < len(label) {
		b.recent = strings.Builder{}
		b.recent.Grow(room)
	}
	from := b.recent.Len()
	b.recent.WriteString(label)
	return b.recent.String()[from:]
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
	return b.link(b.node(u), b.node(v), weight, line)
}

// link is add for nodes that have numbers.
func (b *builder) link(i, j int, weight float64, line int) error {
	if i == j {
		b.selfLoops++
		return b.err
	}
	p := pair{int32(i), int32(j)}
	if b.added == 0 {
		b.first, b.firstLine = p, line
	} else if i < 2 || j < 2 {
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
	if !b.directed && i > j {
		i, j = j, i
	}
	if b.crowd.meet(i, j); len(b.pairs) >= b.crowd.full {
		b.fail(b.makeRoom())
	}
	return b.err
}

// mostExpected is how many edges there is room for at most before they are read.
const mostExpected = 1 << 26

// expect makes room for the edges of the file if it goes on like its first part, of so many bytes and edges.
func (b *builder) expect(edges, bytes int) {
	if whole := float64(edges) / float64(max(bytes, 1)) * float64(b.bytes); len(b.pairs) == 0 && b.bytes > int64(bytes) {
		b.pairs = slices.Grow(b.pairs, int(math.Min(1.05*whole, mostExpected)))
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
	if len(b.labels) < 4 || b.first != (pair{0, 1}) || b.headless {
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
	if len(b.pairs) == 0 {
		return nil, fmt.Errorf("%s: %w between different nodes (%d self-loops)", source, ErrNoEdges, b.selfLoops)
	}
	if b.startsWithHeader() {
		return nil, fmt.Errorf("%s:%d: %q and %q look like the names of columns, all other nodes are integers: "+
			"delete the line or start it with #",
			source, b.firstLine, b.labels[0], b.labels[1])
	}
	labels, rank := b.ranks()
	parallel.Chunks(len(b.pairs), func(_, from, to int) {
		for i, p := range b.pairs[from:to] {
			b.pairs[from+i] = b.oriented(rank[p.u], rank[p.v])
		}
	})
	starts, edges := sortPairs(b.pairs, len(labels))
	keep, conflict := b.distinct(starts, edges)
	if conflict != nil {
		e, first := b.marks[conflict.edge], b.marks[conflict.first]
		return nil, fmt.Errorf("%s:%d: edge %s %s has the weight %v, but %v in line %d", source, e.line,
			labels[conflict.u], labels[conflict.v], e.weight, first.weight, first.line)
	}
	b.duplicates += len(b.pairs) - keep.count
	b.pairs = nil
	adjacency := b.adjacency(keep, edges)
	b.marks = nil
	return wrap(adjacency, labels, b.directed), nil
}

// oriented returns an edge as it is if edges have a direction, and else with the smaller node first.
func (b *builder) oriented(u, v int32) pair {
	if !b.directed && u > v {
		u, v = v, u
	}
	return pair{u, v}
}

// ranks returns the labels in their order (labelOrder), and for every node its place in it.
func (b *builder) ranks() (labels []string, rank []int32) {
	order := b.valueOrder()
	if order == nil {
		order = labelOrder(b.labels)
	}
	labels = make([]string, len(order))
	rank = make([]int32, len(order))
	for i, old := range order {
		labels[i], rank[old] = b.labels[old], int32(i)
	}
	b.labels, b.values, b.table, b.number, b.far = nil, nil, nil, nil, nil
	return labels, rank
}

// valueOrder is labelOrder by counting, where all labels are integers not much larger than their number; else nil.
func (b *builder) valueOrder() []int {
	if largest := slices.Max(b.values); b.others > 0 || int(largest) >= 16*len(b.labels)+1<<16 {
		return nil
	}
	at := make([]int32, slices.Max(b.values)+1)
	for i, value := range b.values {
		at[value] = int32(i + 1)
	}
	order := make([]int, 0, len(b.labels))
	for _, i := range at {
		if i > 0 {
			order = append(order, int(i-1))
		}
	}
	return order
}

// sortedPair is the second node of an edge and, in the lower half, the edge's place in the file: ordered by the two.
type sortedPair uint64

func (p sortedPair) node() int32 { return int32(p >> 32) }
func (p sortedPair) place() int  { return int(uint32(p)) }

// sortPairs sorts edges of so many nodes by their nodes, and then as they came: starts[u] is where the edges from u
// start.
func sortPairs(pairs []pair, nodes int) (starts []int, sorted []sortedPair) {
	starts = make([]int, nodes+1)
	for _, p := range pairs {
		starts[p.u+1]++
	}
	for u := range nodes {
		starts[u+1] += starts[u]
	}
	next := slices.Clone(starts[:nodes])
	sorted = make([]sortedPair, len(pairs))
	for i, p := range pairs {
		sorted[next[p.u]] = sortedPair(p.v)<<32 | sortedPair(uint32(i))
		next[p.u]++
	}
	parallel.Chunks(nodes, func(_, from, to int) {
		for u := from; u < to; u++ {
			slices.Sort(sorted[starts[u]:starts[u+1]])
		}
	})
	return starts, sorted
}

// distinctPairs says which sorted edges are the first of their kind: from every node, the first ones after its start.
type distinctPairs struct {
	starts []int
	counts []int32
	count  int // of all
}

// entries calls visit for the entries u, v of the adjacency matrix, in the order of the edges: from several goroutines,
// each for rows of its own.
func (d distinctPairs) entries(directed bool, sorted []sortedPair, visit func(u, v int32, e sortedPair)) {
	nodes, parts := len(d.counts), min(runtime.GOMAXPROCS(0), 8)
	parallel.For(parts, func(part int) {
		from, to := int32(part*nodes/parts), int32((part+1)*nodes/parts)
		first := int32(0) // smaller nodes have entries in these rows
		if directed {
			first = from
		}
		for u := first; u < to; u++ {
			for _, e := range sorted[d.starts[u]:][:d.counts[u]] {
				if u >= from {
					visit(u, e.node(), e)
				}
				if v := e.node(); !directed && v >= from && v < to {
					visit(v, u, e)
				}
			}
		}
	})
}

// conflict is an edge that is there before with another weight, as places in the file.
type conflict struct {
	u, v        int32
	first, edge int
}

// distinct puts the edges that differ from those before them to the front of every node's. If two edges between the
// same nodes differ in weight, it returns the first such pair instead.
func (b *builder) distinct(starts []int, sorted []sortedPair) (distinctPairs, *conflict) {
	nodes := len(starts) - 1
	counts := make([]int32, nodes)
	conflicts := make([]*conflict, (nodes+parallel.Part-1)/parallel.Part)
	parallel.Chunks(nodes, func(chunk, from, to int) {
		for u := from; u < to; u++ {
			row := sorted[starts[u]:starts[u+1]]
			kept := 0
			for _, e := range row {
				if kept == 0 || row[kept-1].node() != e.node() {
					row[kept] = e
					kept++
				} else if first := row[kept-1]; !b.plain && b.marks[first.place()].weight != b.marks[e.place()].weight {
					conflicts[chunk] = &conflict{int32(u), e.node(), first.place(), e.place()}
					return
				}
			}
			counts[u] = int32(kept)
		}
	})
	for _, c := range conflicts {
		if c != nil {
			return distinctPairs{}, c
		}
	}
	d := distinctPairs{starts: starts, counts: counts}
	for _, c := range counts {
		d.count += int(c)
	}
	return d, nil
}

// adjacency returns the matrix of distinct edges, and of the same in the other direction if they have none.
func (b *builder) adjacency(d distinctPairs, sorted []sortedPair) *CSR {
	nodes := len(d.counts)
	indptr := make([]int, nodes+1)
	d.entries(b.directed, sorted, func(u, _ int32, _ sortedPair) { indptr[u+1]++ })
	for u := range nodes {
		indptr[u+1] += indptr[u]
	}
	indices := make([]int32, indptr[nodes])
	var data []float64
	if !b.plain {
		data = make([]float64, len(indices))
	}
	next := slices.Clone(indptr[:nodes])
	d.entries(b.directed, sorted, func(u, v int32, e sortedPair) { // what comes from smaller nodes is there already
		p := next[u]
		indices[p] = v
		if !b.plain {
			data[p] = b.marks[e.place()].weight
		}
		next[u]++
	})
	if !b.plain {
		return newCSR(nodes, nodes, indptr, indices, data)
	}
	each := make([]float64, nodes)
	for u := range each {
		if indptr[u+1] > indptr[u] {
			each[u] = 1
		}
	}
	return newEachCSR(nodes, nodes, indptr, indices, each)
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

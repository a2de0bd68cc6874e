package graph

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"mafalda/internal/fault"
	"mafalda/internal/files"
	"mafalda/internal/limits"
	"mafalda/internal/lists"
)

// A Sequence is gossip matrices over the nodes of one network, which take turns, one a step.
type Sequence struct {
	Matrices []*CSR // n×n, row-stochastic
	Source   string // name of the file they were read from
	SHA256   string // hash of the file

	Duplicates, SelfLoops int  // edges of the file that were ignored
	Connected             bool // all matrices together connect all nodes; strongly, if edges have a direction
}

// LoadSequence reads edge lists (see Load), separated by empty lines, and makes a gossip matrix of each: of edges with a
// direction if g has directed edges. Several empty lines separate like one; comments do not. The nodes are g's nodes: a
// node without an edge in a list is alone in that step, with W[u,u] = 1; a step in which every node is alone is a list
// of one self-loop. All edges of the file have a weight, or none has. Errors about the content name the file and the
// line: a node that g does not have, a file without a list, and whatever Load and NewGossip reject.
func LoadSequence(path string, g *Graph, s Scheme) (*Sequence, error) {
	hash, err := files.SHA256(path)
	if err != nil {
		return nil, err
	}
	r, closeFile, err := openText(path)
	if err != nil {
		return nil, err
	}
	defer closeFile()
	b := &sequenceBuilder{graph: g, scheme: s, source: path, number: lists.Places(g.Labels()),
		list: builder{directed: g.directed, mirrored: !g.directed}, union: map[Edge]bool{},
		out: &Sequence{Source: filepath.Base(path), SHA256: hash}}
	if _, err := files.Lines(r, path, b.line); err != nil {
		return nil, err
	}
	if err := b.end(); err != nil {
		return nil, err
	}
	if len(b.out.Matrices) == 0 {
		return nil, fmt.Errorf("%s: empty: give an edge list for every step, separated by empty lines", path)
	}
	all, err := newGraph(g.Labels(), slices.Collect(maps.Keys(b.union)), g.directed)
	if err != nil {
		return nil, err
	}
	b.out.Connected = all.StronglyConnected()
	return b.out, nil
}

// sequenceBuilder makes a Sequence of lines.
type sequenceBuilder struct {
	graph  *Graph
	scheme Scheme
	source string
	number map[string]int // node of a label
	parser edgeLines
	out    *Sequence

	first int           // line of the list that is being read; 0: none is
	list  builder       // edges of this list
	union map[Edge]bool // the edges of all lists so far, without weights
	bytes float64       // size of the matrices so far
}

func (b *sequenceBuilder) line(line string, number int) error {
	switch {
	case line == "":
		return b.end()
	case isComment(line):
		return nil
	}
	u, v, weight, err := b.parser.parse(line, number)
	if err != nil {
		return err
	}
	if b.first == 0 {
		b.first = number
	}
	i, known := b.number[u]
	j, other := b.number[v]
	switch {
	case !known || !other:
		if known {
			u = v
		}
		return fmt.Errorf("the graph has no node %.60q, or not in its largest component", u)
	}
	return b.list.add(i, j, weight, number)
}

// end ends a list of edges, if there is one.
func (b *sequenceBuilder) end() error {
	if b.first == 0 {
		return nil
	}
	labels := b.graph.Labels()
	g, err := b.list.makeGraph(labels, b.source)
	if err != nil {
		return err
	}
	b.out.Duplicates, b.out.SelfLoops = b.list.duplicates, b.list.selfLoops
	w, err := NewGossip(g, b.scheme)
	if err != nil {
		return fmt.Errorf("the network of line %d: %w", b.first, err)
	}
	b.out.Matrices = append(b.out.Matrices, w.Matrix())
	b.bytes += 16*float64(w.Matrix().NNZ()) + 8*float64(len(labels))
	b.first = 0
	g.adjacency.DoNonZero(func(u, v int, _ float64) {
		if g.directed || u < v {
			b.union[Edge{u, v, 1}] = true
		}
	})
	what := fmt.Sprintf("%s: a sequence of more than %d networks", b.source, len(b.out.Matrices))
	return limits.Fits(what, b.bytes+edgeBytes*float64(len(b.union)))
}

// loadSequence reads the networks that take turns.
func (n *Network) loadSequence(o NetworkOptions) error {
	switch {
	case o.GraphSequence == "":
		return nil
	case o.GossipFile != "":
		return fault.New("GraphSequence", nil, "gossip matrices are made by a scheme: leave out [GossipFile]")
	}
	s, err := LoadSequence(o.GraphSequence, n.Graph, o.Scheme)
	if err != nil {
		return fault.Because("GraphSequence", err)
	}
	n.Sequence, n.Origin.SequenceFile, n.Origin.SequenceSHA256 = s, s.Source, s.SHA256
	if s.Duplicates > 0 || s.SelfLoops > 0 {
		n.Note("ignored %d repeated edges and %d self-loops of %s", s.Duplicates, s.SelfLoops, s.Source)
	}
	if !s.Connected {
		n.Note("warning: the %d networks of %s together do not connect all nodes: they will not reach consensus",
			len(s.Matrices), s.Source)
	}
	return nil
}

// Matchings draws matchings of the pairs of nodes that hear each other, independently: no node is in two pairs of a
// matching, and no pair more would fit. Every one is drawn by taking all pairs in random order; what fits is taken.
// The same seed draws the same ones. Pairs that average in turn are the gossip of Boyd et al. (2006).
func Matchings(g *Graph, count int, seed uint64) [][]Edge {
	var pairs []Edge
	a := g.adjacency
	a.DoNonZero(func(u, v int, _ float64) {
		if u < v && a.At(v, u) != 0 {
			pairs = append(pairs, Edge{u, v, 1})
		}
	})
	all := make([][]Edge, count)
	for i := range all {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		taken := make([]bool, g.Nodes())
		for _, p := range rng.Perm(len(pairs)) {
			if e := pairs[p]; !taken[e.U] && !taken[e.V] {
				taken[e.U], taken[e.V] = true, true
				all[i] = append(all[i], e)
			}
		}
	}
	return all
}

// PairGossip returns the gossip matrix over n nodes of a matching: every pair takes its mean, and who is in none keeps
// its model. That is the uniform gossip of the graph with these edges.
func PairGossip(n int, matching []Edge) *CSR {
	partner := lists.UpTo(n)
	for _, e := range matching {
		partner[e.U], partner[e.V] = e.V, e.U
	}
	var entries []Edge
	for u, v := range partner {
		if u == v {
			entries = append(entries, Edge{u, u, 1})
		} else {
			entries = append(entries, Edge{u, min(u, v), 0.5}, Edge{u, max(u, v), 0.5})
		}
	}
	return NewSquare(n, entries)
}

// WriteMatchings writes matchings of the nodes of g as edge lists, separated by empty lines, which LoadSequence reads
// as their PairGossip if gossip is uniform. It fails as WriteEdges does.
func WriteMatchings(w io.Writer, g *Graph, matchings [][]Edge) error {
	bw := bufio.NewWriter(w)
	for i, m := range matchings {
		if i > 0 {
			fmt.Fprintln(bw)
		}
		sub, err := newGraph(g.labels, m, false)
		if err != nil {
			return err
		}
		if err := WriteEdges(bw, sub); err != nil {
			return err
		}
	}
	return bw.Flush()
}

package graph

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"mafalda/internal/lists"
)

// ErrNoEdges is returned for an input without a single edge between two nodes.
var ErrNoEdges = errors.New("no edges")

// ErrNoNodes is returned for an input without a single node.
var ErrNoNodes = errors.New("empty: no nodes")

// Graph is a graph on the nodes 0..n-1. It is immutable.
type Graph struct {
	adjacency *CSR // n×n, zero diagonal, symmetric if undirected
	labels    []string
	directed  bool
	weighted  bool
}

// Edge is an edge between two node numbers.
type Edge struct {
	U, V   int
	Weight float64 // positive and finite; 1 in graphs without weights
}

// New returns the graph with these distinct labels and edges. It keeps the slice of labels, and copies the edges. The
// errors are ErrNoNodes, repeated labels, node numbers out of range, self-loops, repeated edges (in either direction,
// if undirected) and weights that are not positive and finite.
func New(labels []string, edges []Edge, directed bool) (*Graph, error) {
	number := make(map[string]int, len(labels))
	for i, l := range labels {
		if j, ok := number[l]; ok {
			return nil, fmt.Errorf("nodes %d and %d have the same label %q", j, i, l)
		}
		number[l] = i
	}
	return newGraph(labels, edges, directed)
}

// newGraph is New for labels that are distinct.
func newGraph(labels []string, edges []Edge, directed bool) (*Graph, error) {
	n := len(labels)
	if n == 0 {
		return nil, ErrNoNodes
	}
	placed := make([]located, len(edges))
	for i, e := range edges {
		switch {
		case e.U < 0 || e.V < 0 || e.U >= n || e.V >= n:
			return nil, fmt.Errorf("edge (%d,%d) of a graph of %d nodes", e.U, e.V, n)
		case e.U == e.V:
			return nil, fmt.Errorf("self-loop at node %d", e.U)
		case !isWeight(e.Weight):
			return nil, fmt.Errorf("edge (%d,%d) has the weight %v: must be positive and finite", e.U, e.V, e.Weight)
		}
		placed[i] = located{e, i}
	}
	adjacency, err := squareOf(placed, n, !directed, func(e, _ located) error {
		return fmt.Errorf("edge (%d,%d) is there twice", e.U, e.V)
	})
	if err != nil {
		return nil, err
	}
	return wrap(adjacency, labels, directed), nil
}

// wrap makes a graph of its adjacency matrix.
func wrap(adjacency *CSR, labels []string, directed bool) *Graph {
	weighted := slices.ContainsFunc(adjacency.data, func(w float64) bool { return w != 1 })
	return &Graph{adjacency: adjacency, labels: labels, directed: directed, weighted: weighted}
}

func compareEdges(a, b Edge) int {
	if a.U != b.U {
		return a.U - b.U
	}
	return a.V - b.V
}

// NewSquare returns an n×n matrix of entries, the weights of edges (row, column), which must be distinct and in order: row
// by row, with ascending columns. It panics if they are not.
func NewSquare(n int, entries []Edge) *CSR {
	indptr := make([]int, n+1)
	indices := make([]int32, len(entries))
	data := make([]float64, len(entries))
	for i, e := range entries {
		indptr[e.U+1]++
		indices[i], data[i] = int32(e.V), e.Weight
	}
	for i := range n {
		indptr[i+1] += indptr[i]
	}
	return newCSR(n, n, indptr, indices, data)
}

// numberLabels returns the labels "0", "1", ..., for graphs that come without.
func numberLabels(n int) []string { return lists.Make(n, strconv.Itoa) }

// Nodes returns the number of nodes, n.
func (g *Graph) Nodes() int { return len(g.labels) }

// Edges returns the number of edges; an undirected edge counts once.
func (g *Graph) Edges() int {
	if g.directed {
		return g.adjacency.NNZ()
	}
	return g.adjacency.NNZ() / 2
}

// Directed reports whether edges have a direction.
func (g *Graph) Directed() bool { return g.directed }

// Weighted reports whether some edge has a weight other than one.
func (g *Graph) Weighted() bool { return g.weighted }

// Labels returns the labels of the nodes in their order. The slice must not be changed.
func (g *Graph) Labels() []string { return g.labels }

// Label returns the label of node i.
func (g *Graph) Label(i int) string { return g.labels[i] }

// Degree returns the number of neighbours of node i: of the nodes it averages over, if the graph is directed.
func (g *Graph) Degree(i int) int { return g.adjacency.RowNNZ(i) }

// Adjacency returns the n×n matrix A of edge weights, with a zero diagonal.
func (g *Graph) Adjacency() *CSR { return g.adjacency }

// strengths returns the row sums of A.
func (g *Graph) strengths() []float64 {
	s := make([]float64, g.Nodes())
	g.adjacency.DoNonZero(func(i, _ int, v float64) { s[i] += v })
	return s
}

// Subgraph returns the graph on the nodes kept, which must be ascending, with their labels.
func (g *Graph) Subgraph(kept []int) *Graph {
	return wrap(g.adjacency.principal(kept), lists.Map(kept, func(u int) string { return g.labels[u] }), g.directed)
}

// principal returns the rows and columns kept (ascending) of a square matrix.
func (m *CSR) principal(kept []int) *CSR {
	number := slices.Repeat([]int{-1}, m.rows)
	for i, u := range kept {
		number[u] = i
	}
	var entries []Edge
	for i, u := range kept {
		m.DoRowNonZero(u, func(_, v int, w float64) {
			if number[v] >= 0 {
				entries = append(entries, Edge{i, number[v], w})
			}
		})
	}
	return NewSquare(len(kept), entries)
}

package secrets

import (
	"cmp"
	"fmt"
	"slices"

	"mafalda/graph"
	"mafalda/internal/fault"
)

// MostComplete is the largest number of nodes of Complete: each of n(n-1)/2 pairs costs an exchange of keys, and rows of
// noise at both ends.
const MostComplete = 500

// Pair is two nodes that share a secret. U < V; U adds what they share, and V subtracts it.
type Pair struct{ U, V int }

// Graph says which pairs of the nodes 0..n-1 share a secret. It need not be connected, nor have anything to do with who
// averages with whom. It is immutable.
type Graph struct {
	nodes int
	pairs []Pair // ascending
}

// NewGraph returns the secret graph of n nodes with these pairs, in any order and with the nodes of a pair in any
// order. The slice is copied. The errors are a number of nodes below one, nodes out of range, pairs of one node, and
// pairs that are there twice.
func NewGraph(nodes int, pairs []Pair) (*Graph, error) {
	if nodes < 1 {
		return nil, fault.New("Nodes", nodes, "must be at least 1")
	}
	sorted := slices.Clone(pairs)
	for i, p := range sorted {
		switch {
		case p.U < 0 || p.V < 0 || p.U >= nodes || p.V >= nodes:
			return nil, fmt.Errorf("pair (%d,%d) of %d nodes", p.U, p.V, nodes)
		case p.U == p.V:
			return nil, fmt.Errorf("node %d has no secret to share with itself", p.U)
		case p.U > p.V:
			sorted[i] = Pair{p.V, p.U}
		}
	}
	slices.SortFunc(sorted, comparePairs)
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return nil, fmt.Errorf("pair (%d,%d) is there twice", sorted[i].U, sorted[i].V)
		}
	}
	return &Graph{nodes: nodes, pairs: sorted}, nil
}

func comparePairs(a, b Pair) int { return cmp.Or(cmp.Compare(a.U, b.U), cmp.Compare(a.V, b.V)) }

// OfEdges returns the secret graph whose pairs are the edges of g, in whatever direction.
func OfEdges(g *graph.Graph) *Graph {
	var pairs []Pair
	g.Adjacency().DoNonZero(func(i, j int, _ float64) {
		if i != j {
			pairs = append(pairs, Pair{min(i, j), max(i, j)})
		}
	})
	slices.SortFunc(pairs, comparePairs)
	return &Graph{nodes: g.Nodes(), pairs: slices.Compact(pairs)}
}

// Complete returns the secret graph of all pairs of up to MostComplete nodes.
func Complete(nodes int) (*Graph, error) {
	if nodes > MostComplete {
		return nil, fault.New("Secrets", "all", "is for at most %d nodes, not %d", MostComplete, nodes)
	}
	var pairs []Pair
	for u := range nodes {
		for v := u + 1; v < nodes; v++ {
			pairs = append(pairs, Pair{u, v})
		}
	}
	return NewGraph(nodes, pairs)
}

// Nodes returns the number of nodes, n.
func (g *Graph) Nodes() int { return g.nodes }

// Pairs returns the pairs in ascending order. The slice must not be changed.
func (g *Graph) Pairs() []Pair { return g.pairs }

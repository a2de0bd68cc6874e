package graph

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"

	"mafalda/internal/lists"
)

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
	return csrFromSorted(n, entries)
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

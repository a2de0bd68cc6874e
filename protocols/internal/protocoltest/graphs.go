package protocoltest

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"mafalda/graph"
	"mafalda/internal/lists"
)

// Named makes a built-in graph.
func Named(t testing.TB, spec string) *graph.Graph {
	t.Helper()
	g, _, err := graph.ByName(spec, graph.BuiltinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// FromEdges makes a graph of pairs of node numbers.
func FromEdges(t interface{ Fatal(...any) }, n int, pairs ...[2]int) *graph.Graph {
	labels := lists.Make(n, strconv.Itoa)
	edges := lists.Map(pairs, func(p [2]int) graph.Edge { return graph.Edge{U: p[0], V: p[1], Weight: 1} })
	g, err := graph.New(labels, edges, false)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// DrawGraph draws a connected graph of n nodes from a tree, whose shape decides how many leaves there are, and some
// more edges.
func DrawGraph(t *rapid.T, most int) *graph.Graph {
	n := rapid.IntRange(2, most).Draw(t, "n")
	seen := map[[2]int]bool{}
	for v := 1; v < n; v++ {
		seen[[2]int{rapid.IntRange(0, v-1).Draw(t, "parent"), v}] = true
	}
	for range rapid.IntRange(0, n).Draw(t, "more") {
		u, v := rapid.IntRange(0, n-1).Draw(t, "u"), rapid.IntRange(0, n-1).Draw(t, "v")
		if u != v {
			seen[[2]int{min(u, v), max(u, v)}] = true
		}
	}
	return FromEdges(t, n, slices.Collect(maps.Keys(seen))...)
}

// GossipOf makes a gossip matrix.
func GossipOf(t interface{ Fatal(...any) }, g *graph.Graph, s graph.Scheme) *graph.Gossip {
	w, err := graph.NewGossip(g, s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// DrawCoalition draws one node, or some, of n.
func DrawCoalition(t *rapid.T, n int) []int {
	size := 1
	if n > 3 && rapid.Bool().Draw(t, "collude") {
		size = rapid.IntRange(1, n-2).Draw(t, "size")
	}
	order := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "coalition"), 1)).Perm(n)
	return order[:size]
}

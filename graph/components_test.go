package graph

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "mafalda/internal/seeded"
)

// drawGraph draws a graph of up to 12 nodes, often with several components.
func drawGraph(t *rapid.T, directed bool) *Graph {
	n := rapid.IntRange(1, 12).Draw(t, "n")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 9))
	density := rng.Float64() * 0.5
	var edges []Edge
	for u := range n {
		for v := range n {
			if u != v && (directed || u < v) && rng.Float64() < density {
				edges = append(edges, Edge{u, v, 1})
			}
		}
	}
	g, err := New(numberLabels(n), edges, directed)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestComponentsAreReachability(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t, false)
		d := shortestPaths(g)
		var seen []int
		before := g.Nodes()
		for _, c := range g.Components() {
			if len(c) > before || !slices.IsSorted(c) {
				t.Fatalf("components %v", g.Components())
			}
			before = len(c)
			for v := range g.Nodes() {
				if slices.Contains(c, v) != (d[c[0]][v] >= 0) {
					t.Fatalf("node %d and component %v", v, c)
				}
			}
			seen = append(seen, c...)
		}
		if len(seen) != g.Nodes() {
			t.Fatalf("components hold %d of %d nodes", len(seen), g.Nodes())
		}
		kept := g.Components()[0]
		largest := g.Subgraph(kept)
		if largest.Nodes() != len(kept) || len(largest.Components()) != 1 {
			t.Fatalf("largest component %v", kept)
		}
		for i, u := range kept {
			if largest.Label(i) != g.Label(u) || largest.Degree(i) != g.Degree(u) {
				t.Fatalf("node %d became %d", u, i)
			}
		}
	})
}

func TestWeakComponentsOfDirectedGraph(t *testing.T) {
	g, err := New(numberLabels(4), []Edge{{0, 1, 1}, {2, 1, 1}}, true)
	if err != nil {
		t.Fatal(err)
	}
	if c := g.Components(); len(c) != 2 || !slices.Equal(c[0], []int{0, 1, 2}) || g.StronglyConnected() {
		t.Errorf("components %v, strongly connected %v", c, g.StronglyConnected())
	}
}

// Weak components are the classes of a union-find over the edges, whatever their direction.
func TestComponentsAreUnions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t, rapid.Bool().Draw(t, "directed"))
		parent := make([]int, g.Nodes())
		for i := range parent {
			parent[i] = i
		}
		find := func(u int) int {
			for parent[u] != u {
				u = parent[u]
			}
			return u
		}
		g.Adjacency().DoNonZero(func(u, v int, _ float64) { parent[find(u)] = find(v) })
		component := make([]int, g.Nodes())
		last := []int(nil)
		for i, c := range g.Components() {
			if last != nil && (len(c) > len(last) || len(c) == len(last) && c[0] < last[0]) {
				t.Fatalf("%v stands before %v", last, c)
			}
			last = c
			for _, u := range c {
				component[u] = i
			}
		}
		for u := range g.Nodes() {
			for v := range g.Nodes() {
				if (find(u) == find(v)) != (component[u] == component[v]) {
					t.Fatalf("nodes %d and %d: union-find and components %v differ", u, v, g.Components())
				}
			}
		}
	})
}

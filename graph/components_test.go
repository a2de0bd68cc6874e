package graph

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
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

// shortestPaths is the method of Floyd and Warshall; unreachable is -1.
func shortestPaths(g *Graph) [][]int {
	n := g.Nodes()
	const far = 1 << 20
	d := make([][]int, n)
	for i := range d {
		d[i] = make([]int, n)
		for j := range d[i] {
			d[i][j] = far
			if i == j {
				d[i][j] = 0
			} else if g.Adjacency().At(i, j) > 0 {
				d[i][j] = 1
			}
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				d[i][j] = min(d[i][j], d[i][k]+d[k][j])
			}
		}
	}
	for i := range d {
		for j := range d[i] {
			if d[i][j] >= far {
				d[i][j] = -1
			}
		}
	}
	return d
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
		largest, kept := g.LargestComponent()
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

func TestDiameterIsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t, rapid.Bool().Draw(t, "directed"))
		want, connected := 0, true
		for _, row := range shortestPaths(g) {
			want = max(want, slices.Max(row))
			connected = connected && slices.Min(row) >= 0
		}
		exact, bounds := g.Diameter(1000), g.Diameter(0)
		if exact.Connected != connected || bounds.Connected != connected || g.StronglyConnected() != connected {
			t.Fatalf("connected %v: %+v, %+v", connected, exact, bounds)
		}
		if connected && (!exact.Exact() || exact.Lower != want || bounds.Lower > want || bounds.Upper < want) {
			t.Fatalf("diameter %d: exact %+v, bounds %+v", want, exact, bounds)
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

package graph

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

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

// On these the bounds of a few searches are known.
func TestDiameterBounds(t *testing.T) {
	for spec, want := range map[string]Diameter{
		"complete:1":  {0, 0, true},
		"path:101":    {100, 100, true}, // a double sweep finds the ends, and the middle is central
		"star:9":      {2, 2, true},
		"hypercube:6": {6, 12, true}, // no node is more central than another
	} {
		if got := builtin(t, spec, 0).Diameter(0); got != want {
			t.Errorf("%s: %+v, want %+v", spec, got, want)
		}
	}
}

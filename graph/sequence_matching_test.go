package graph

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// Matchings are pairs of neighbours, no node is in two, no pair more fits, and the file of them is the same gossip.
func TestMatchings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "matchings.edges")
	rapid.Check(t, func(t *rapid.T) {
		n, seed := rapid.IntRange(1, 8).Draw(t, "nodes"), rapid.Uint64().Draw(t, "seed")
		rng := rand.New(rand.NewPCG(seed, 1))
		directed := rapid.Bool().Draw(t, "directed")
		var edges []Edge
		for u := range n {
			for v := range n {
				if (u < v || directed && u > v) && rng.IntN(2) == 0 {
					edges = append(edges, Edge{u, v, 1})
				}
			}
		}
		labels := make([]string, n)
		for u := range labels {
			labels[u] = string(rune('a' + u))
		}
		g, err := New(labels, edges, directed)
		if err != nil {
			t.Fatal(err)
		}
		all := Matchings(g, 3, seed)
		if len(all) != 3 || !reflect.DeepEqual(all, Matchings(g, 3, seed)) {
			t.Fatalf("%v, and again %v", all, Matchings(g, 3, seed))
		}
		for _, m := range all {
			taken := map[int]bool{}
			want := mat.NewDense(n, n, nil)
			for u := range n {
				want.Set(u, u, 1)
			}
			hear := func(u, v int) bool { return g.Adjacency().At(u, v) != 0 && g.Adjacency().At(v, u) != 0 }
			for _, e := range m {
				if !hear(e.U, e.V) || taken[e.U] || taken[e.V] {
					t.Fatalf("%v in %v", e, m)
				}
				taken[e.U], taken[e.V] = true, true
				for _, at := range [][2]int{{e.U, e.U}, {e.U, e.V}, {e.V, e.U}, {e.V, e.V}} {
					want.Set(at[0], at[1], 0.5)
				}
			}
			for u := range n {
				for v := range n {
					if u != v && !taken[u] && !taken[v] && hear(u, v) {
						t.Fatalf("%d and %d are alone in %v", u, v, m)
					}
				}
			}
			if got := PairGossip(n, m); !mat.Equal(got.ToDense(), want) {
				t.Fatalf("%v is %v", m, mat.Formatted(got.ToDense()))
			}
		}
		var file bytes.Buffer
		if err := WriteMatchings(&file, g, all); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		both, err := New(labels, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		read, err := LoadSequence(path, both, Uniform)
		if err != nil || len(read.Matrices) != 3 {
			t.Fatalf("%v, %v\n%s", read, err, file.String())
		}
		for i, m := range all {
			if !mat.Equal(read.Matrices[i].ToDense(), PairGossip(n, m).ToDense()) {
				t.Fatalf("%v is read as %v", m, mat.Formatted(read.Matrices[i].ToDense()))
			}
		}
	})
}

package reaction

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/participation"
)

// large returns a random network of 148 nodes and about 10 neighbours each, with one attacker.
func large(b *testing.B, steps int, sums bool) *System {
	b.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	n := 148
	w := mat.NewDense(n, n, nil)
	for v := range n {
		w.Set(v, v, 1)
		for range 5 {
			u := (v + 1 + r.IntN(20)) % n
			w.Set(v, u, 1)
			w.Set(u, v, 1)
		}
	}
	for v := range n {
		row := w.RawRowView(v)
		scaled(row, 1/sumOf(row))
	}
	step, hidden := Look(n, []*mat.Dense{w}, []int{0}, sums)
	s := &System{Nodes: len(hidden)}
	for range steps {
		s.Steps = append(s.Steps, step)
	}
	return s
}

func BenchmarkAll(b *testing.B) {
	for _, sums := range []bool{false, true} {
		for name, class := range map[string]Class{"none": NoReaction(), "convex": {0.95, 0.05}, "lipschitz": {0, 1}} {
			b.Run(name+map[bool]string{false: "", true: "-sums"}[sums], func(b *testing.B) {
				s := large(b, 380, sums)
				schema, err := participation.NewCyclic(380, 20, 19)
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					all, err := boundAll(s, schema, Everywhere(class))
					if err != nil || all.Why != "" {
						b.Fatal(err, all.Why)
					}
				}
			})
		}
	}
}

func BenchmarkBound(b *testing.B) {
	s := large(b, 380, false)
	for b.Loop() {
		if _, err := boundAttacked(s, Victim{Node: 70, Schema: listed(s, [][]int{{0}})},
			Everywhere(Class{0.95, 0.05})); err != nil {
			b.Fatal(err)
		}
	}
}

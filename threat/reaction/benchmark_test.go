package reaction

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/npy"
	"mafalda/participation"
	"mafalda/strategy"
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
	step, hidden, err := Look(n, []*mat.Dense{w}, []int{0}, sums)
	if err != nil {
		b.Fatal(err)
	}
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
					all, err := All(context.Background(), s, schema, Everywhere(class))
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
		if _, err := Bound(context.Background(), s, Victim{Node: 70, Schema: listed(s, [][]int{{0}})},
			Everywhere(Class{0.95, 0.05})); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStandIns reports how well strategies C' of little memory stand for C if a record takes part every 19 steps: the
// proven factor γ, and γ times the local DP of C' over the local DP of C, 1 at best. C is the matrix in the file that the
// variable STRATEGY names, such as the C.npy of an export, or else the square root of the prefix sum.
func BenchmarkStandIns(b *testing.B) {
	c := toStandFor(b)
	var pattern []int
	for t := 0; t < c.Steps(); t += 19 {
		pattern = append(pattern, t)
	}
	report := func(name string, make func() (strategy.Strategy, error)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				by, err := make()
				if err != nil {
					b.Fatal(err)
				}
				stand, err := standing(c, by, pattern)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(stand.Factor, "γ")
				b.ReportMetric(stand.spread/spread(c, pattern), "γ·localDP")
			}
		})
	}
	for _, bands := range []int{8, 16, 64} {
		report(fmt.Sprintf("bands=%d", bands), func() (strategy.Strategy, error) {
			first, full := mat.NewDense(c.Steps(), c.Steps(), nil), whole(c)
			for i := range c.Steps() {
				for j := max(0, i-bands+1); j <= i; j++ {
					first.Set(i, j, full.At(i, j))
				}
			}
			return strategy.NewBanded(first, bands)
		})
	}
	report("BLT", func() (strategy.Strategy, error) { return fitted(c, pattern), nil })
	for _, memory := range []int{8, 19, 20, 21} {
		report(fmt.Sprintf("memory=%d", memory), func() (strategy.Strategy, error) { return reduce(c, 21).cut(memory), nil })
	}
}

// toStandFor returns the strategy of the variable STRATEGY.
func toStandFor(b *testing.B) strategy.Strategy {
	b.Helper()
	c, err := strategy.SquareRoot(96, 96)
	if err != nil {
		b.Fatal(err)
	}
	matrix := whole(c)
	if path := os.Getenv("STRATEGY"); path != "" {
		a, err := npy.ReadFile(path)
		if err != nil || len(a.Shape) != 2 || a.Shape[0] != a.Shape[1] {
			b.Fatal(a.Shape, err)
		}
		matrix = mat.NewDense(a.Shape[0], a.Shape[1], a.Data)
	}
	full, err := strategy.NewDense(matrix)
	if err != nil {
		b.Fatal(err)
	}
	return full
}

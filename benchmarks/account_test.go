package benchmarks

import (
	"context"
	"testing"

	"mafalda/graph"
	"mafalda/participation"
	"mafalda/threat"
)

// BenchmarkAccount: one attacker and all 147 victims at the size of the paper, and the definition at the largest size it is
// made for.
func BenchmarkAccount(b *testing.B) {
	attacker := threat.Attacker{Trust: threat.PNDP, Nodes: []int{0}}
	w := gossipMatrix(b, benchmarkGraph(b), graph.Uniform)
	s, err := participation.NewCyclic(380, 20, 19)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("n=148/T=380", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			err := threat.Account(context.Background(), w, threat.DPDSGD(), attacker, 380, func(e threat.Exposure) error {
				_, err := s.Sensitivity(e.M)
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	g, _, err := graph.ByName("florentine", graph.BuiltinOptions{})
	if err != nil {
		b.Fatal(err)
	}
	small := gossipMatrix(b, g, graph.Uniform)
	b.Run("explicit/n=15/T=20", func(b *testing.B) {
		for b.Loop() {
			view, err := threat.Explicit(small, threat.DPDSGD(), attacker, 20)
			if err != nil {
				b.Fatal(err)
			}
			for v := 1; v < 15; v++ {
				if _, err := view.Exposure(v); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("fast/n=15/T=20", func(b *testing.B) {
		for b.Loop() {
			if err := threat.Account(context.Background(), small, threat.DPDSGD(), attacker, 20, func(threat.Exposure) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
}

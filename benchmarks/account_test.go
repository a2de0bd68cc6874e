package benchmarks

import (
	"context"
	"testing"

	"mafalda/graph"
	"mafalda/participation"
	"mafalda/threat"
)

// BenchmarkAccount: one attacker and all 147 victims at the size of the paper, and the definition at the largest size
// it is made for.
func BenchmarkAccount(b *testing.B) {
	attacker := threat.Attacker{Trust: threat.PNDP, Nodes: []int{0}}
	w := gossipMatrix(b, benchmarkGraph(b), graph.Uniform)
	schema, err := participation.NewCyclic(380, 20, 19)
	if err != nil {
		b.Fatal(err)
	}
	large := threat.Scenario{Gossip: w, Algorithm: threat.DPDSGD(), Attacker: attacker, Schema: schema}
	b.Run("n=148/T=380", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			err := threat.Account(context.Background(), large, func(e threat.Exposure) error {
				_, err := schema.Sensitivity(e.M)
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
	every, err := participation.NewCyclic(20, 20, 1)
	if err != nil {
		b.Fatal(err)
	}
	small := large
	small.Gossip, small.Schema = gossipMatrix(b, g, graph.Uniform), every
	b.Run("explicit/n=15/T=20", func(b *testing.B) {
		for b.Loop() {
			view, err := threat.Explicit(small)
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
			err := threat.Account(context.Background(), small, func(threat.Exposure) error { return nil })
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

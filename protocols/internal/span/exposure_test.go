package span

import (
	"context"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mafalda/graph"
	"mafalda/protocols/internal/consensus"
	"mafalda/protocols/internal/protocoltest"
	"mafalda/protocols/internal/rational"
)

// Exposures in double precision, for graphs that are too large for more, are bounds, and so are the leakages that
// they give.
func TestExposuresInDoublePrecisionAreBounds(t *testing.T) {
	exact := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	rapid.Check(t, func(t *rapid.T) {
		g := protocoltest.DrawGraph(t, 6)
		w := consensus.NewWeights(protocoltest.GossipOf(t, g, graph.Metropolis).Matrix())
		observers, rounds := protocoltest.DrawCoalition(t, g.Nodes()), rapid.IntRange(0, 8).Draw(t, "rounds")
		o := &Observation{Weights: w, Residues: w.Residues(),
			Known: func(v int) bool { return slices.Contains(observers, v) },
			Seen: func(v int) bool {
				return slices.ContainsFunc(observers, func(a int) bool { return g.Adjacency().At(a, v) != 0 })
			},
		}
		s, err := o.Observe(context.Background(), rounds)
		if err != nil || s.Rank() == len(s.Hidden) {
			return
		}
		s.fine, s.Blur = nil, 1e-13
		for at, e := range s.Exposures() {
			seen := protocoltest.Exposure(g, rational.Metropolis(g), observers, rounds, s.Hidden[at])
			hidden := new(big.Rat).Sub(big.NewRat(1, 1), seen)
			protocoltest.CheckAbove(t, "exposure", e.Seen, new(big.Float).SetPrec(protocoltest.ExactBits).SetRat(seen),
				1e-9)
			if exact(e.Hidden).Cmp(hidden) > 0 {
				t.Fatalf("hidden %g of %v", e.Hidden, hidden)
			}
			for _, noise := range []float64{1e-6, 1, 1e6} {
				bound, _ := protocoltest.Leakage(exact(e.Seen), exact(e.Hidden), 1, noise).Float64()
				protocoltest.CheckAbove(t, "leakage", bound*(1+0x1p-52), protocoltest.Leakage(seen, hidden, 1, noise),
					1e-9)
			}
		}
	})
}

package protocols

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
	"mafalda/participation"
	"mafalda/threat"
)

// Exposures are what package threat finds for one step of Muffliato, by its definition.
func TestExposuresAreThoseOfTheThreatModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t, 7)
		w := gossipOf(t, g, graph.Metropolis)
		p, err := NewGossip(g, w)
		if err != nil {
			t.Fatal(err)
		}
		coalition := drawCoalition(t, g.Nodes())
		rounds := rapid.IntRange(0, 5).Draw(t, "rounds")
		exposures, err := p.Exposures(context.Background(), coalition, rounds)
		if err != nil {
			t.Fatal(err)
		}
		muffliato, err := threat.Muffliato(rounds + 1)
		if err != nil {
			t.Fatal(err)
		}
		once, err := participation.NewCyclic(1, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		attacker := threat.Attacker{Trust: threat.PNDP, Nodes: coalition}
		view, err := threat.Explicit(threat.Scenario{Gossip: w.Matrix(), Algorithm: muffliato, Attacker: attacker, Schema: once})
		if err != nil {
			t.Fatal(err)
		}
		for j := range g.Nodes() {
			if contains(coalition, j) {
				if exposures[j] != (Exposure{1, 0}) {
					t.Fatalf("observer %d: exposure %v", j, exposures[j])
				}
				continue
			}
			want, err := view.Exposure(j)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(want.M.At(0, 0)-exposures[j].Seen) > 1e-8 {
				t.Fatalf("node %d: exposure %.12g, by definition %.12g", j, exposures[j].Seen, want.M.At(0, 0))
			}
		}
	})
}

// The leakage of gossip is the covariance formula, with all messages (exposure 1) that of one noisy value.
func TestGossipLeakage(t *testing.T) {
	checkAbove(t, "one value of variance 4 in noise of variance 1", GossipLeakage(Exposure{1, 0}, 2, 1),
		exactGossipLeakage(big.NewRat(1, 1), 2, 1), 4e-15)
	rapid.Check(t, func(t *rapid.T) {
		n, rows := rapid.IntRange(2, 5).Draw(t, "n"), 1
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 6))
		value, noise := 0.5+r.Float64(), 0.5+r.Float64()
		q := make([]float64, n) // a unit vector: what is seen is q·(u + z)
		for i := range q {
			q[i] = r.NormFloat64()
		}
		unit := mat.NewVecDense(n, q)
		unit.ScaleVec(1/mat.Norm(unit, 2), unit)
		seen := value*value + noise*noise // variance of q·(u+z)
		covariance := value * value * unit.AtVec(0)
		determinant := seen*value*value - covariance*covariance
		want := 0.5 * math.Log(seen*value*value/determinant)
		if got := GossipLeakage(Exposure{unit.AtVec(0) * unit.AtVec(0), 1 - unit.AtVec(0)*unit.AtVec(0)}, value,
			noise); math.Abs(got-want) > 1e-12 {
			t.Fatalf("%d row: %g, by determinants %g", rows, got, want)
		}
	})
}

func TestGossipRun(t *testing.T) {
	g := named(t, "cycle:5")
	p, err := NewGossip(g, gossipOf(t, g, graph.Laplacian))
	if err != nil {
		t.Fatal(err)
	}
	u := []float64{1, 2, 3, 4, 10}
	r := rand.New(rand.NewPCG(1, 2))
	values, err := p.Run(context.Background(), u, GossipOptions{Rounds: 200}, r)
	if err != nil {
		t.Fatal(err)
	}
	if d := Distance(values[200], 4); d > 1e-9 {
		t.Errorf("without noise %g from the mean", d)
	}
	for _, std := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := p.Run(context.Background(), u, GossipOptions{NoiseStd: std, Rounds: 1}, r); err == nil {
			t.Errorf("noise of standard deviation %v", std)
		}
	}
	if _, err := p.Run(context.Background(), u[:3], GossipOptions{NoiseStd: 1, Rounds: 1}, r); !isNetwork(err) {
		t.Errorf("three values for five nodes: %v", err)
	}
}

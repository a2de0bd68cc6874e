package gossip

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
	_ "mafalda/internal/seeded"
	"mafalda/participation"
	"mafalda/protocols/internal/protocoltest"
	"mafalda/protocols/internal/span"
	"mafalda/threat"
)

// Exposures are what package threat finds for one step of Muffliato, by its definition.
func TestExposuresAreThoseOfTheThreatModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := protocoltest.DrawGraph(t, 7)
		w := protocoltest.GossipOf(t, g, graph.Metropolis)
		p, err := New(g, w)
		if err != nil {
			t.Fatal(err)
		}
		coalition := protocoltest.DrawCoalition(t, g.Nodes())
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
			if slices.Contains(coalition, j) {
				if exposures[j] != (Exposure{Seen: 1, Hidden: 0}) {
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

// The leakage of gossip is the covariance formula; with all messages (exposure 1) it is one noisy value's leakage.
func TestLeakage(t *testing.T) {
	protocoltest.CheckAbove(t, "one value of variance 4 in noise of variance 1", Leakage(Exposure{Seen: 1, Hidden: 0}, 2, 1),
		exactLeakage(big.NewRat(1, 1), 2, 1), 4e-15)
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
		if got := Leakage(Exposure{Seen: unit.AtVec(0) * unit.AtVec(0), Hidden: 1 - unit.AtVec(0)*unit.AtVec(0)}, value,
			noise); math.Abs(got-want) > 1e-12 {
			t.Fatalf("%d row: %g, by determinants %g", rows, got, want)
		}
	})
}

func TestGossipRun(t *testing.T) {
	g := protocoltest.Named(t, "cycle:5")
	p, err := New(g, protocoltest.GossipOf(t, g, graph.Laplacian))
	if err != nil {
		t.Fatal(err)
	}
	u := []float64{1, 2, 3, 4, 10}
	r := rand.New(rand.NewPCG(1, 2))
	run, err := p.Run(context.Background(), u, Options{Rounds: 200}, r)
	if err != nil {
		t.Fatal(err)
	}
	if d := run.Errors()[200]; d > 1e-9 || math.Abs(run.Mean-4) > 1e-15 || math.Abs(run.Noisy()-4) > 1e-15 {
		t.Errorf("without noise %g from the mean", d)
	}
	for _, std := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := p.Run(context.Background(), u, Options{NoiseStd: std, Rounds: 1}, r); err == nil {
			t.Errorf("noise of standard deviation %v", std)
		}
	}
	if _, err := p.Run(context.Background(), u[:3], Options{NoiseStd: 1, Rounds: 1}, r); !errors.Is(err, ErrNetwork) {
		t.Errorf("three values for five nodes: %v", err)
	}
}

// What turns out to be little is not refused, however much it might have been: all leaves of a star tell the same.
func TestWhatIsLittleIsNotRefused(t *testing.T) {
	star := protocoltest.Named(t, "star:60")
	p, err := New(star, protocoltest.GossipOf(t, star, graph.Metropolis))
	if err != nil {
		t.Fatal(err)
	}
	p.work = span.Work{Most: 2e4, Probe: 1e4}
	if _, err := p.Exposures(context.Background(), []int{5}, Forever); err != nil {
		t.Errorf("a leaf of a star: %v", err)
	}
}

package ppac

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
	"mafalda/protocols/internal/protocoltest"
)

// On graphs that are too large for rational numbers: the messages' basis and the basis of all coordinates give the same
// leakage, and nobody learns less than the average says.
func TestLeakageDoesNotDependOnTheBasis(t *testing.T) {
	for _, spec := range []string{"barabasi:120,3", "watts:100,4,0.2"} {
		g := protocoltest.Named(t, spec)
		p, err := New(g, protocoltest.GossipOf(t, g, graph.Laplacian), ChooseNeighbours(g, rand.New(rand.NewPCG(1, 1))))
		if err != nil {
			t.Fatal(err)
		}
		v, err := p.View(context.Background(), []int{17}, Forever)
		if err != nil {
			t.Fatal(err)
		}
		if !v.span.Whole {
			t.Fatalf("%s: %d of %d dimensions", spec, len(v.span.Messages), len(v.span.Hidden))
		}
		d := Deviations{10, 1500}
		leaks, err := v.Leakages(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		v.span.Whole = false
		others, err := v.Leakages(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		floor := math.Log1p(1/float64(p.Nodes()-1)) / 2
		for j, l := range leaks {
			if math.Abs(l.Nats-others[j].Nats) > 1e-9*l.Nats || l.Nats < floor*(1-1e-9) {
				t.Errorf("%s: %.12g nats of %d, by the messages' basis %.12g; floor %.12g", spec, l.Nats, l.Victim,
					others[j].Nats, floor)
			}
		}
	}
}

// Leakages of PPAC are never below the truth either, however far apart values and noise are, and infinite only where a
// value is recovered.
func TestLeakageOfPPACIsAnUpperBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProtocol(t, 6)
		observers := protocoltest.DrawCoalition(t, p.Nodes())
		rounds := rapid.IntRange(0, 20).Draw(t, "rounds")
		value := math.Pow(10, rapid.Float64Range(-3, 3).Draw(t, "value"))
		d := Deviations{value, value * math.Pow(10, rapid.Float64Range(-9.9, 9.9).Draw(t, "ratio"))}
		v, err := p.View(context.Background(), observers, rounds)
		if err != nil {
			t.Fatal(err)
		}
		exact, err := p.exactView(exactWeights(p), observers, rounds)
		if err != nil {
			t.Fatal(err)
		}
		leaks, err := v.Leakages(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range leaks {
			if recovered := exact.recovered(l.Victim); recovered || math.IsInf(l.Nats, 1) {
				if !recovered || !math.IsInf(l.Nats, 1) {
					t.Fatalf("%g nats of a value, recovered: %v", l.Nats, recovered)
				}
				continue
			}
			want := protocoltest.Log1p(new(big.Float).SetPrec(protocoltest.ExactBits).SetRat(exact.ratio(l.Victim, p,
				d)))
			protocoltest.CheckAbove(t, "leakage", l.Nats, want.Quo(want,
				new(big.Float).SetPrec(protocoltest.ExactBits).SetInt64(2)), 1e-9)
		}
	})
}

// Leakage is ½ log det Cov(D) + ½ log Var(u) - ½ log det Cov(D, u), the covariance formula of mutual information.
func TestLeakageIsMutualInformation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProtocol(t, 8)
		i := rapid.IntRange(0, p.Nodes()-1).Draw(t, "i")
		d := Deviations{rapid.Float64Range(0.5, 2).Draw(t, "value"), rapid.Float64Range(0.5, 5).Draw(t, "noise")}
		v, err := p.View(context.Background(), []int{i}, Forever)
		if err != nil {
			t.Fatal(err)
		}
		exact, err := p.exactView(exactWeights(p), []int{i}, p.Nodes())
		if err != nil {
			t.Fatal(err)
		}
		leaks, err := v.Leakages(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		rows := len(exact.rows)
		scaled := mat.NewDense(rows+1, p.sources, nil)
		for r, row := range exact.rows {
			for c, x := range row {
				f, _ := x.Float64()
				s := d.Noise
				if c < p.Nodes() {
					s = d.Value
				}
				scaled.Set(r, c, f*s)
			}
		}
		for _, l := range leaks {
			if math.IsInf(l.Nats, 1) {
				continue
			}
			for c := range p.sources {
				scaled.Set(rows, c, 0)
			}
			scaled.Set(rows, l.Victim, d.Value)
			// log-determinants from triangles: the covariance itself would square the condition
			want := logVolume(scaled.Slice(0, rows, 0, p.sources)) + math.Log(d.Value) - logVolume(scaled)
			if math.Abs(want-l.Nats) > 1e-10*(1+want) {
				t.Fatalf("leakage %.15g, by determinants %.15g", l.Nats, want)
			}
		}
	})
}

// logVolume is ½ log det(MMᵀ).
func logVolume(m mat.Matrix) float64 {
	var qr mat.QR
	qr.Factorize(m.T())
	var r mat.Dense
	qr.RTo(&r)
	rows, _ := m.Dims()
	var sum float64
	for i := range rows {
		sum += math.Log(math.Abs(r.At(i, i)))
	}
	return sum
}

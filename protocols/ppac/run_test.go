package ppac

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mafalda/graph"
	"mafalda/protocols/averaging"
	"mafalda/protocols/internal/protocoltest"
)

// Averages come out, whatever the noise; and every value that the graph does not hide is computed from what was seen.
func TestRunAveragesAndIsAttacked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProtocol(t, 9)
		coalition := protocoltest.DrawCoalition(t, p.Nodes())
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "noise"), 3))
		u := make([]float64, p.Nodes())
		for i := range u {
			u[i] = 10 * r.NormFloat64()
		}
		run, err := p.Prepare(u, Deviations{10, 15}, r)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range run.Fragments {
			var sum float64
			for _, x := range row {
				sum += x
			}
			if math.Abs(sum-u[i]) > 1e-12 {
				t.Fatalf("fragments of node %d sum to %g, its value is %g", i, sum, u[i])
			}
		}
		if err := p.Average(context.Background(), run, 100_000, 1e-10); err != nil {
			t.Fatal(err)
		}
		if d := run.Error(len(run.Values) - 1); d > 1e-9 {
			t.Fatalf("%g from the mean after %d rounds", d, len(run.Values)-1)
		}
		for head := range p.Nodes() {
			got, err := p.Recover(run, coalition, head)
			if hidden := err != nil; hidden == (recoveredBy(p.neighbours, coalition, head) &&
				!slices.Contains(coalition, head)) {
				t.Fatalf("recovering %d: %v", head, err)
			} else if !hidden && math.Abs(got-u[head]) > 1e-6 {
				t.Fatalf("node %d has %.12g, %v computed %.12g", head, u[head], coalition, got)
			}
		}
	})
}

// sixNodes is a graph that fits what Appendix A says of its example: the chosen neighbours are neighbours and a cycle
// visits all nodes. The text does not list its edges.
func sixNodes(t testing.TB) (*Protocol, []float64, []float64) {
	t.Helper()
	g := protocoltest.FromEdges(t, 6, [2]int{0, 1}, [2]int{1, 3}, [2]int{2, 3}, [2]int{3, 4}, [2]int{0, 5}, [2]int{4,
		5}, [2]int{1, 2})
	p, err := New(g, protocoltest.GossipOf(t, g, graph.Laplacian), []int{1, 3, 3, 2, 3, 0})
	if err != nil {
		t.Fatal(err)
	}
	return p, []float64{2.30, 4.40, -6.17, 2.75, 6.01, 0.92}, []float64{-12.57, 16.49, -20.11, 20.78, -23.08, 28.70}
}

// Appendix A: v(0) has the sum of u, in hundredths exactly, and goes to the mean.
func TestSixNodesOfTheAppendix(t *testing.T) {
	p, u, v := sixNodes(t)
	sumU, sumV := 0, 0
	for i := range u {
		sumU += int(math.Round(100 * u[i]))
		sumV += int(math.Round(100 * v[i]))
	}
	if sumU != 1021 || sumV != 1021 {
		t.Fatalf("sums %d and %d hundredths, the appendix has a mean of 1.7", sumU, sumV)
	}
	run := &Run{Trace: averaging.NewTrace(u, v)}
	if err := p.Average(context.Background(), run, 1000, 1e-12); err != nil {
		t.Fatal(err)
	}
	for _, x := range run.Values[len(run.Values)-1] {
		if math.Abs(x-10.21/6) > 1e-11 {
			t.Errorf("a node ends at %.15g, the mean is %.15g", x, 10.21/6)
		}
	}
	if pairs := Recoverable(p.graph); len(pairs) != 0 {
		t.Errorf("recoverable pairs %v in a graph with a cycle through all six nodes", pairs)
	}
}

// On the path a-b-c no pair with head b is a generalized leaf, but both ends recover b.
func TestLeavesExposeTheirNeighbour(t *testing.T) {
	g := protocoltest.Named(t, "path:3")
	for _, l := range GeneralizedLeaves(g) {
		if l.Head == 1 {
			t.Errorf("(%d, %d) is a generalized leaf", l.Head, l.Tail)
		}
	}
	p, err := New(g, protocoltest.GossipOf(t, g, graph.Laplacian), []int{1, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	u := []float64{3, -5, 11}
	r := rand.New(rand.NewPCG(1, 1))
	run, err := p.Prepare(u, Deviations{1, 100}, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Average(context.Background(), run, 3, 0); err != nil {
		t.Fatal(err)
	}
	if got, err := p.Recover(run, []int{2}, 1); err != nil || math.Abs(got+5) > 1e-9 {
		t.Errorf("node c computes %g, %v; b has -5", got, err)
	}
}

func TestPrepareRefuses(t *testing.T) {
	p, u, _ := sixNodes(t)
	r := rand.New(rand.NewPCG(1, 1))
	if _, err := p.Prepare(u[:5], Deviations{1, 1}, r); !errors.Is(err, ErrNetwork) {
		t.Errorf("five values for six nodes: %v", err)
	}
	for _, s := range []float64{0, -1, math.NaN(), math.Inf(1), 1e-11, 1e11} {
		if _, err := p.Prepare(u, Deviations{s, 1}, r); err == nil {
			t.Errorf("values of standard deviation %v", s)
		}
		if _, err := p.Prepare(u, Deviations{1, s}, r); err == nil {
			t.Errorf("noise of standard deviation %v", s)
		}
	}
	// two nodes alone draw no noise: how much there would be is no matter
	pair := protocoltest.Named(t, "path:2")
	p, err := New(pair, protocoltest.GossipOf(t, pair, graph.Metropolis), []int{1, 0})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Prepare([]float64{1, 2}, Deviations{1, 1e12}, r); err != nil {
		t.Error(err)
	}
}

func BenchmarkLeaves(b *testing.B) {
	g := protocoltest.Named(b, "barabasi:1000,3")
	b.ReportAllocs()
	for b.Loop() {
		GeneralizedLeaves(g)
	}
}

func BenchmarkLeakageOfOneObserver(b *testing.B) {
	for _, spec := range []string{"barabasi:1000,3", "watts:1000,6,0.1", "cycle:1001"} {
		b.Run(spec, func(b *testing.B) {
			g := protocoltest.Named(b, spec)
			p, err := New(g, protocoltest.GossipOf(b, g, graph.Laplacian), ChooseNeighbours(g, rand.New(rand.NewPCG(1,
				1))))
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				v, err := p.View(context.Background(), []int{0}, Forever)
				if err != nil {
					b.Fatal(err)
				}
				leaks, err := v.Leakages(context.Background(), Deviations{10, 1500})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(v.span.Messages)), "rank")
				b.ReportMetric(leaks[0].Nats, "nats")
			}
		})
	}
}

// A value is given away in the round in which what is seen determines it, whatever the noise.
func TestRecoveryHasItsRound(t *testing.T) {
	g := protocoltest.FromEdges(t, 6, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 3}, [2]int{2, 4}, [2]int{1, 5},
		[2]int{5, 2}) // 3 and 4 are leaves at 2
	p, err := New(g, protocoltest.GossipOf(t, g, graph.Laplacian), []int{1, 0, 3, 2, 2, 1})
	if err != nil {
		t.Fatal(err)
	}
	for rounds, want := range []bool{false, true, true} { // node 1 recovers 2 from v_2(1)
		exact, err := p.exactView(rationalLaplacian(g), []int{1}, rounds)
		if err != nil {
			t.Fatal(err)
		}
		if exact.recovered(2) != want {
			t.Fatalf("after round %d recovered: %v", rounds, !want)
		}
		for _, noise := range []float64{1e-9, 1, 1e9} {
			v, err := p.View(context.Background(), []int{1}, rounds)
			if err != nil {
				t.Fatal(err)
			}
			leaks, err := v.Leakages(context.Background(), Deviations{1, noise})
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range leaks {
				if l.Victim == 2 && math.IsInf(l.Nats, 1) != want {
					t.Errorf("noise %g, round %d: %g nats of node 2", noise, rounds, l.Nats)
				}
			}
		}
	}
}

package ppac

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mafalda/graph"
	_ "mafalda/internal/seeded"
	"mafalda/protocols/internal/protocoltest"
)

// drawProtocol draws a protocol; with the Laplacian scheme where that converges, so that exactness is checked, too.
func drawProtocol(t *rapid.T, most int) *Protocol {
	g := protocoltest.DrawGraph(t, most)
	chosen := ChooseNeighbours(g, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "chosen"), 0)))
	p, err := New(g, protocoltest.GossipOf(t, g, graph.Laplacian), chosen)
	if err != nil {
		p, err = New(g, protocoltest.GossipOf(t, g, graph.Metropolis), chosen)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// exactWeights returns W exactly.
func exactWeights(p *Protocol) [][]*big.Rat {
	w := rationalLaplacian(p.graph)
	for i := range w {
		for j := range w {
			if x, _ := w[i][j].Float64(); math.Abs(x-p.weights.Matrix.At(i, j)) > 1e-12 {
				return rationalMetropolis(p.graph)
			}
		}
	}
	return w
}

// drawDeviations draws standard deviations, noise from a billionth of the values to a billion times them.
func drawDeviations(t *rapid.T) Deviations {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "deviations"), 2))
	scale := math.Pow(10, rapid.Float64Range(-9, 9).Draw(t, "scale"))
	return Deviations{0.5 + r.Float64(), scale * (0.5 + r.Float64())}
}

// The fast view is the definition in rational numbers: informative sequence, who is recovered, and leakage.
func TestViewIsItsDefinition(t *testing.T) {
	worst := 0.0
	rapid.Check(t, func(t *rapid.T) {
		p := drawProtocol(t, 7)
		coalition := protocoltest.DrawCoalition(t, p.Nodes())
		rounds := rapid.IntRange(0, p.Nodes()).Draw(t, "rounds")
		forever := rapid.Bool().Draw(t, "forever")
		exact, err := p.exactView(exactWeights(p), coalition, map[bool]int{true: p.Nodes(), false: rounds}[forever])
		if err != nil {
			t.Fatal(err)
		}
		if forever {
			rounds = Forever
		}
		v, err := p.View(context.Background(), coalition, rounds)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.informative(); !slices.Equal(got, exact.informative) {
			t.Fatalf("informative %v, must be %v", got, exact.informative)
		}
		d := drawDeviations(t)
		leaks, err := v.Leakages(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		if len(leaks) != p.Nodes()-len(coalition) {
			t.Fatalf("%d leakages of %d nodes with %d observers", len(leaks), p.Nodes(), len(coalition))
		}
		for _, l := range leaks {
			want := exact.leakage(l.Victim, p, d)
			if math.IsInf(want, 1) != math.IsInf(l.Nats, 1) {
				t.Fatalf("leakage of %d is %v, must be %v", l.Victim, l.Nats, want)
			}
			if math.IsInf(want, 1) {
				continue
			}
			worst = max(worst, math.Abs(l.Nats-want)/(1+want))
			if math.Abs(l.Nats-want) > 1e-10*(1+want) {
				t.Fatalf("leakage of %d is %.17g, must be %.17g", l.Victim, l.Nats, want)
			}
		}
	})
	t.Logf("largest difference %.2g", worst)
}

func forever(t testing.TB, p *Protocol, observer, victim int, d Deviations) float64 {
	t.Helper()
	v, err := p.View(context.Background(), []int{observer}, Forever)
	if err != nil {
		t.Fatal(err)
	}
	leaks, err := v.Leakages(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leaks {
		if l.Victim == victim {
			return l.Nats
		}
	}
	t.Fatalf("no leakage of %d", victim)
	return 0
}

// cycle is C_n with m_i the next node.
func cycle(t testing.TB, n int) *Protocol {
	t.Helper()
	g := protocoltest.Named(t, fmt.Sprintf("cycle:%d", n))
	next := make([]int, n)
	for i := range next {
		next[i] = (i + 1) % n
	}
	scheme := graph.Laplacian
	if n%2 == 0 {
		scheme = graph.Metropolis
	}
	p, err := New(g, protocoltest.GossipOf(t, g, scheme), next)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Figure 7: leakage falls with the length of the cycle, grows when noise shrinks, and never falls below what the
// average itself says, ½ log(1 + 1/(n-1)), which many standard deviations of noise come close to.
func TestCyclesLeakLessWhenLonger(t *testing.T) {
	previous := map[float64]float64{}
	for _, n := range []int{5, 7, 10, 20, 30, 40} {
		p := cycle(t, n)
		floor := math.Log1p(1/float64(n-1)) / 2
		before := math.Inf(1)
		for _, noise := range []float64{15, 150, 1500, 1.5e4, 1.5e5, 1.5e6} {
			leak := forever(t, p, 0, 1, Deviations{10, noise})
			if last, ok := previous[noise]; ok && leak >= last {
				t.Errorf("C_%d with noise %g leaks %g, a shorter cycle %g", n, noise, leak, last)
			}
			previous[noise] = leak
			if leak < floor*(1-1e-9) || leak > before*(1+1e-9) {
				t.Errorf("C_%d with noise %g leaks %.12g, with less noise %.12g; floor %.12g", n, noise, leak, before,
					floor)
			}
			before = leak
		}
		t.Logf("C_%d: %.6g nats at noise 1.5e6, floor %.6g", n, before, floor)
	}
}

func TestNewRefuses(t *testing.T) {
	star := protocoltest.Named(t, "star:4")
	even := protocoltest.Named(t, "cycle:4")
	lonely := protocoltest.FromEdges(t, 3, [2]int{0, 1})
	for name, c := range map[string]struct {
		g      *graph.Graph
		scheme graph.Scheme
		chosen []int
	}{
		"not a neighbour":       {star, graph.Metropolis, []int{1, 2, 0, 0}},
		"itself":                {star, graph.Metropolis, []int{1, 1, 0, 0}},
		"out of range":          {star, graph.Metropolis, []int{9, 0, 0, 0}},
		"too few":               {star, graph.Metropolis, []int{1, 0, 0}},
		"not doubly stochastic": {star, graph.Uniform, []int{1, 0, 0, 0}},
		"periodic":              {even, graph.Laplacian, []int{1, 0, 1, 0}},
		"degree 0":              {lonely, graph.Metropolis, []int{1, 0, 0}},
		"one node":              {protocoltest.Named(t, "complete:1"), graph.Metropolis, []int{0}},
	} {
		if _, err := New(c.g, protocoltest.GossipOf(t, c.g, c.scheme), c.chosen); !errors.Is(err, ErrNetwork) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The same on a real graph: powers of W are so nearly parallel here that a basis pursuit on them in floating point
// misses messages.
func TestFlorentineIsItsDefinition(t *testing.T) {
	g := protocoltest.Named(t, "florentine")
	p, err := New(g, protocoltest.GossipOf(t, g, graph.Laplacian), ChooseNeighbours(g, rand.New(rand.NewPCG(2, 2))))
	if err != nil {
		t.Fatal(err)
	}
	w, d := rationalLaplacian(g), Deviations{10, 1500}
	for _, observer := range []int{0, 3, 8} { // Acciaiuoli, Bischeri, Medici
		exact, err := p.exactView(w, []int{observer}, p.Nodes())
		if err != nil {
			t.Fatal(err)
		}
		v, err := p.View(context.Background(), []int{observer}, Forever)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(v.informative(), exact.informative) {
			t.Errorf("%s: informative %v, must be %v", g.Label(observer), v.informative(), exact.informative)
		}
		leaks, err := v.Leakages(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range leaks {
			want := exact.leakage(l.Victim, p, d)
			if !(math.Abs(l.Nats-want) <= 1e-11*want) && !(math.IsInf(l.Nats, 1) && math.IsInf(want, 1)) {
				t.Errorf("%s learns %.15g of %s, must be %.15g", g.Label(observer), l.Nats, g.Label(l.Victim), want)
			}
		}
	}
}

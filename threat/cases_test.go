package threat

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
	"mafalda/participation"
	"mafalda/strategy"
)

func gossip(t rapid.TB, name string, scheme graph.Scheme) (*graph.Graph, *graph.CSR) {
	g, _, err := graph.ByName(name, graph.BuiltinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := graph.NewGossip(g, scheme)
	if err != nil {
		t.Fatal(err)
	}
	return g, w.Matrix()
}

// every is participation in all steps.
func every(t rapid.TB, steps int) participation.Cyclic {
	s, err := participation.NewCyclic(steps, steps, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sensitivity(t rapid.TB, m *mat.SymDense) float64 {
	s, err := every(t, m.SymmetricDim()).Sensitivity(m)
	if err != nil {
		t.Fatal(err)
	}
	return s.Squared
}

// TestLDPIsTheStrategy: against all messages M is CᵀC for every strategy, by its filter and by its matrix; no attacker
// under PNDP learns more.
func TestLDPIsTheStrategy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawGossip(t)
		n, _ := w.Dims()
		steps := rapid.IntRange(1, 8).Draw(t, "T")
		c := drawStrategy(t, steps)
		a := MFDSGD(c)
		want, err := a.LocalMatrix(0, steps)
		if err != nil {
			t.Fatal(err)
		}
		var lower mat.TriDense
		c.StrategyTo(&lower)
		gram := mat.NewSymDense(steps, nil)
		gram.SymOuterK(1, lower.T())
		if !mat.EqualApprox(gram, want, 1e-9) {
			t.Fatalf("%T: CᵀC is %v, by its filter %v", c, mat.Formatted(gram), mat.Formatted(want))
		}
		found, err := account(t, w, a, Attacker{}, steps)
		if err != nil || len(found) != n {
			t.Fatalf("%d victims, %v", len(found), err)
		}
		for _, e := range found {
			if !mat.EqualApprox(e.M, gram, 1e-9) {
				t.Fatalf("%T: M is %v, CᵀC %v", c, mat.Formatted(e.M), mat.Formatted(gram))
			}
		}
		node := Attacker{Trust: PNDP, Nodes: []int{rapid.IntRange(0, n-1).Draw(t, "attacker")}}
		if found, err = account(t, w, a, node, steps); err != nil {
			t.Fatal(err)
		}
		for _, e := range found {
			var rest mat.SymDense
			rest.ScaleSym(-1, e.M)
			rest.AddSym(&rest, gram)
			var eigen mat.EigenSym
			if eigen.Factorize(&rest, false); eigen.Values(nil)[0] < -1e-9 {
				t.Fatalf("%T: a node learns more than from all messages: %v", c, eigen.Values(nil))
			}
		}
	})
}

// TestOwnNoiseOfSeenNodes: knowing its own noise changes nothing for an attacker that sees its own message and all
// those it is made of. The view without the noise is written out here, so that this is not true by construction.
func TestOwnNoiseOfSeenNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawGossip(t)
		n, _ := w.Dims()
		steps := rapid.IntRange(1, 5).Draw(t, "T")
		attacker := Attacker{Trust: PNDP, Nodes: []int{rapid.IntRange(0, n-1).Draw(t, "attacker")}}
		found, err := account(t, w, DPDSGD(), attacker, steps)
		if err != nil {
			t.Fatal(err)
		}
		forgets := attacker
		forgets.ForgetOwnNoise = true
		view, err := Explicit(Scenario{w, DPDSGD(), forgets, every(t, steps)})
		if err != nil {
			t.Fatal(err)
		}
		for victim, e := range found {
			want, err := view.Exposure(victim)
			if err != nil || !mat.EqualApprox(e.M, want.M, 1e-8) {
				t.Fatalf("victim %d: %v with its own noise, %v without (%v)", victim, mat.Formatted(e.M), mat.Formatted(want.M), err)
			}
		}
	})
}

// TestFarVictimsKeepTheirDigits compares tiny sensitivities at the end of a path with those in exact arithmetic's
// reach: the value of the last node must be a smooth continuation, not rounding noise. On a path the exposure falls
// with the distance.
func TestFarVictimsKeepTheirDigits(t *testing.T) {
	_, w := gossip(t, "path:12", graph.Uniform)
	found, err := account(t, w, DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{0}}, 12)
	if err != nil {
		t.Fatal(err)
	}
	before := math.Inf(1)
	for v := 1; v < 12; v++ {
		s := sensitivity(t, found[v].M)
		if !(s > 0) || s >= before {
			t.Errorf("node %d has %v after %v", v, s, before)
		}
		before = s
	}
	// the message of node 11 takes 10 rounds to node 1, so the first to tell is the message of step 11, from the
	// gradient of step 1: it arrives with the weight (1/3)^9·1/3 against noise that other nodes added
	if before > 1e-8 || before < 1e-13 {
		t.Errorf("the last node has %v", before)
	}
}

// TestSettledFilterIsNotFrozen: sensitivities keep what comes late. On a long cycle with a slow filter the value with
// all T steps is above what the first half implies, and it equals the definition at a T where S has long settled.
func TestSettledFilterIsNotFrozen(t *testing.T) {
	_, w := gossip(t, "cycle:9", graph.Uniform)
	const steps = 40
	attacker := Attacker{Trust: PNDP, Nodes: []int{0}}
	found, err := account(t, w, DPDSGD(), attacker, steps)
	if err != nil {
		t.Fatal(err)
	}
	view, err := Explicit(Scenario{w, DPDSGD(), attacker, every(t, steps)})
	if err != nil {
		t.Fatal(err)
	}
	for v, e := range found {
		want, err := view.Exposure(v)
		if err != nil {
			t.Fatal(err)
		}
		if got := sensitivity(t, e.M); math.Abs(got-sensitivity(t, want.M)) > 1e-10*got {
			t.Errorf("node %d has %v, by definition %v", v, got, sensitivity(t, want.M))
		}
	}
}

// TestSecureSummationApproachesOneOverN shows Theorem 13 of Koskela and Kulkarni: Δ²/T → 1/n, from the view of one
// node's own sums and noise, for symmetric W.
func TestSecureSummationApproachesOneOverN(t *testing.T) {
	g, w := gossip(t, "complete:4", graph.Metropolis)
	_, sparse := gossip(t, "cycle:5", graph.Metropolis)
	for name, tc := range map[string]struct {
		w     *graph.CSR
		nodes int
	}{"complete": {w, g.Nodes()}, "cycle": {sparse, 5}} {
		last := math.Inf(1)
		for _, steps := range []int{50, 100, 200} {
			found, err := account(t, tc.w, DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{0}, SecureSummation: true, ForgetOwnNoise: true}, steps)
			if err != nil {
				t.Fatal(err)
			}
			off := math.Abs(sensitivity(t, found[2].M)/AsymptoteSquared(1, tc.nodes, steps, true) - 1)
			if off > last {
				t.Errorf("%s: off by %v after %v", name, off, last)
			}
			last = off
		}
		if last > 0.05 {
			t.Errorf("%s: still off by %v", name, last)
		}
	}
}

// TestLimits: no path is nothing learned, a coalition of all neighbours of a victim that hears every message learns
// what all messages say, one step, and attackers that do not exist.
func TestLimits(t *testing.T) {
	w := graph.NewCSRFromDense(mat.NewDense(4, 4, []float64{
		0.5, 0.5, 0, 0,
		0.5, 0.5, 0, 0,
		0, 0, 0.5, 0.5,
		0.25, 0, 0.25, 0.5})) // node 3 hears node 0, but 0 and 1 hear no others
	found, err := account(t, w, DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{0}}, 5)
	if err != nil || mat.Norm(found[2].M, 2) != 0 || mat.Norm(found[3].M, 2) != 0 {
		t.Errorf("without a path: %v, %v", found, err)
	}
	_, ring := gossip(t, "cycle:4", graph.Uniform)
	all, err := account(t, ring, DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{0, 1, 3}}, 6)
	if err != nil || !mat.EqualApprox(all[2].M, eye(6), 1e-14) {
		t.Errorf("a coalition around the victim: %v, %v", all, err)
	}
	one, err := account(t, ring, DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{0}}, 1)
	if err != nil || one[1].M.At(0, 0) != 1 || one[2].M.At(0, 0) != 0 {
		t.Errorf("one step: %v, %v", one, err)
	}
	for name, a := range map[string]Attacker{
		"out of range":  {Trust: PNDP, Nodes: []int{4}},
		"twice":         {Trust: PNDP, Nodes: []int{1, 1}},
		"nobody":        {Trust: PNDP},
		"LDP's nobody":  {Nodes: []int{1}},
		"secure LDP":    {SecureSummation: true},
		"forgetful LDP": {ForgetOwnNoise: true},
	} {
		if _, err := account(t, ring, DPDSGD(), a, 3); !errors.Is(err, ErrAttacker) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := account(t, ring, MFDSGD(mustBanded(t, 5)), Attacker{Trust: PNDP, Nodes: []int{0}}, 4); !errors.Is(err, ErrStrategy) {
		t.Errorf("a strategy of other length: %v", err)
	}
	if _, err := Muffliato(0); err == nil {
		t.Error("no gossip rounds")
	}
	if _, err := DECOR(0, 0); err == nil {
		t.Error("DECOR without noise")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := Scenario{ring, DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{0}}, every(t, 4)}
	if err := Account(ctx, s, func(Exposure) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func eye(n int) *mat.SymDense {
	m := mat.NewSymDense(n, nil)
	for i := range n {
		m.SetSym(i, i, 1)
	}
	return m
}

func mustBanded(t rapid.TB, steps int) *strategy.Banded {
	b, err := strategy.NewBanded(eye(steps), 1)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCyffersIsAbove: the accounting of Cyffers et al. is never below ours on undirected graphs with uniform gossip,
// which is not symmetric; and what is wrong with it on directed ones.
func TestCyffersIsAbove(t *testing.T) {
	oneWay := graph.NewCSRFromDense(mat.NewDense(3, 3, []float64{0.5, 0.5, 0, 0, 0.5, 0.5, 0, 0, 1})) // 0 hears 1, 1 hears 2
	found, err := account(t, oneWay, DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{0}}, 3)
	if bound := CyffersSquared(oneWay, []int{0}, 3)[2]; err != nil || bound != 0 || sensitivity(t, found[2].M) < 0.1 {
		t.Errorf("on a one-way path: %v, %v, bound %v", found, err, bound)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 8).Draw(t, "n")
		g, known, err := graph.ByName(fmt.Sprintf("erdos:%d,0.5", n), graph.BuiltinOptions{Seed: rapid.Uint64().Draw(t, "seed")})
		if err != nil || !known {
			t.Fatal(err)
		}
		net, err := graph.NewGossip(g, rapid.SampledFrom([]graph.Scheme{graph.Uniform, graph.Metropolis}).Draw(t, "scheme"))
		if err != nil {
			t.Fatal(err)
		}
		w := net.Matrix()
		steps := rapid.IntRange(1, 6).Draw(t, "T")
		attacker := rapid.IntRange(0, n-1).Draw(t, "attacker")
		found, err := account(t, w, DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{attacker}}, steps)
		if err != nil {
			t.Fatal(err)
		}
		bound := CyffersSquared(w, []int{attacker}, steps)
		for v, e := range found {
			exact, err := participation.VectorSensitivity(e.M, every(t, steps).Patterns(), participation.VectorOptions{})
			if err != nil || exact.Attained > bound[v]*(1+1e-9) {
				t.Fatalf("victim %d: %+v (%v), Cyffers et al. %v", v, exact, err, bound[v])
			}
		}
	})
}

// TestFiniteBoundIsAbove: Theorem 15 holds without its stray T.
func TestFiniteBoundIsAbove(t *testing.T) {
	g, w := gossip(t, "cycle:5", graph.Metropolis)
	net, err := graph.NewGossip(g, graph.Metropolis)
	if err != nil {
		t.Fatal(err)
	}
	second, err := net.SecondEigenvalue()
	if err != nil {
		t.Fatal(err)
	}
	for _, steps := range []int{5, 20, 60} {
		found, err := account(t, w, DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{0}, SecureSummation: true, ForgetOwnNoise: true}, steps)
		if err != nil {
			t.Fatal(err)
		}
		bound := finiteBoundSquared(1, 5, steps, second.Modulus)
		if got := sensitivity(t, found[1].M); got > bound {
			t.Errorf("T = %d: %v, above the bound %v", steps, got, bound)
		}
	}
}

// finiteBoundSquared is the bound for finite T of Koskela & Kulkarni, Theorem 15, without the stray factor T of its
// display (which would make it quadratic in T): mT/n + 2√(mT/n)/(1-ρ)² + 2/(1-ρ)⁴, with ρ the second largest modulus of
// W's eigenvalues. It is loose, and often above local DP.
func finiteBoundSquared(observers, nodes, steps int, rho float64) float64 {
	first := float64(observers) * float64(steps) / float64(nodes)
	gap := (1 - rho) * (1 - rho)
	return first + 2*math.Sqrt(first)/gap + 2/(gap*gap)
}

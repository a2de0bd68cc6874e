package threat

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
	"mafalda/workload"
)

// drawLevels draws a privacy level for every node.
func drawLevels(r *rand.Rand, n int) []OwnLevel {
	levels := make([]OwnLevel, n)
	for v := range levels {
		levels[v] = OwnLevel{Sigma: 0.3 + 2*r.Float64(), Part: math.Pow(10, -1.5*r.Float64())}
	}
	levels[r.IntN(n)].Part = 1
	return levels
}

// TestLevelsAreTheDefinition: where nodes have levels of their own, what is learned of a node is, in units of its noise,
// what the view says that is written out for one level and has every node's noise multiplied by its own standard
// deviation.
func TestLevelsAreTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawGossip(t)
		n, _ := w.Dims()
		steps := rapid.IntRange(1, 6).Draw(t, "T")
		a := MFDSGD(drawStrategy(t, steps))
		if rapid.Bool().Draw(t, "independent") {
			a = DPDSGD()
		}
		if rapid.Bool().Draw(t, "momentum") {
			var err error
			if a, err = a.Under(Training{Spec: workload.Spec{Optimizer: workload.Optimizer{Momentum: 0.5, WeightDecay: 0.1}}}); err != nil {
				t.Fatal(err)
			}
		}
		attacker := drawAttacker(t, n)
		view, err := Explicit(Scenario{w, a, attacker, every(t, steps)})
		if err != nil {
			t.Fatal(err)
		}
		a.levels = drawLevels(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "levels"), 1)), n)
		own, err := Explicit(Scenario{w, a, attacker, every(t, steps)})
		if err != nil {
			t.Fatal(err)
		}
		rows, _ := view.B.Dims()
		for i := range rows {
			for s := range steps {
				for v := range n {
					view.B.Set(i, s*n+v, view.B.At(i, s*n+v)*a.levels[v].Part)
				}
			}
		}
		found, err := account(t, w, a, attacker, steps)
		if errors.Is(err, ErrUnclear) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for victim, got := range found {
			want, err := view.Exposure(victim)
			if err != nil || want.Infinite || got.Infinite {
				t.Fatal(want.Infinite, got.Infinite, err)
			}
			want.M.ScaleSym(a.levels[victim].Part*a.levels[victim].Part, want.M)
			protocol, err := own.Exposure(victim)
			if err != nil {
				t.Fatal(err)
			}
			for what, m := range map[string]*mat.SymDense{"account": got.M, "protocol": protocol.M} {
				for s := range steps {
					for u := range steps {
						if math.Abs(m.At(s, u)-want.M.At(s, u)) > 1e-7*(1+mat.Norm(want.M, 2)) {
							t.Fatalf("%s: M[%d,%d] of victim %d is %v, by definition %v", what, s, u, victim, m.At(s, u), want.M.At(s, u))
						}
					}
				}
			}
		}
	})
}

// TestLevelsWhileTraining: the bound for a class holds against the worst answers of the class on the network as it is,
// exactly, and is close to them; what is claimed of every node is its own.
func TestLevelsWhileTraining(t *testing.T) {
	_, w := gossip(t, "path:4", graph.Uniform)
	r := rand.New(rand.NewPCG(5, 6))
	for range 3 {
		a := DPDSGD()
		a.levels = drawLevels(r, 4)
		for _, text := range []string{"convex:0.5", "smooth:0.3"} {
			answer, err := ParseAnswer(text)
			if err != nil {
				t.Fatal(err)
			}
			s := Scenario{w, a, Attacker{Trust: PNDP, Nodes: []int{0}}, mustCyclic(t, 4, 1)}
			for victim := 1; victim < 4; victim++ {
				found, err := Audit(t.Context(), s, victim, AuditOptions{Random: rand.NewPCG(1, 0), Runs: 1000, Answer: answer})
				if err != nil || !found.Passed || !found.Reacting.Holds {
					t.Fatalf("%s, victim %d: %+v, %v", text, victim, found, err)
				}
				if found.Reachable < found.Claimed*0.99 || *found.Local < found.Claimed || *found.Local > 1.0001/a.levels[victim].Sigma {
					t.Errorf("%s, victim %d: %v is reached, %v claimed, %v local", text, victim, found.Reachable, found.Claimed, *found.Local)
				}
			}
		}
	}
}

// TestAuditOfLevels: a node's claim holds, and not if that node alone halves its noise.
func TestAuditOfLevels(t *testing.T) {
	_, w := gossip(t, "path:4", graph.Uniform)
	a := DPDSGD()
	a.levels = []OwnLevel{{1, 0.2}, {0.5, 1}, {0.25, 0.1}, {2, 0.5}}
	for victim := range 4 {
		s := Scenario{w, a, Attacker{Trust: LDP}, mustCyclic(t, 6, 2)}
		o := AuditOptions{Random: rand.NewPCG(2, 0), Runs: 2000}
		honest, err := Audit(t.Context(), s, victim, o)
		if want := math.Sqrt2 / a.levels[victim].Sigma; err != nil || !honest.Passed || math.Abs(honest.Claimed-want) > 1e-9 {
			t.Errorf("node %d: %+v, %v; want the claim %v", victim, honest, err, want)
		}
		for scaled := range 4 {
			o.Random, o.NoiseScale, o.Scaled = rand.NewPCG(2, 0), 0.5, []int{scaled}
			if r, err := Audit(t.Context(), s, victim, o); err != nil || r.Passed != (scaled != victim) {
				t.Errorf("node %d, half the noise of %d: %+v, %v", victim, scaled, r, err)
			}
		}
	}
}

// TestLevelsRefused: levels of other nodes, a level for all beside the nodes' own, and networks that change.
func TestLevelsRefused(t *testing.T) {
	g, w := gossip(t, "path:3", graph.Uniform)
	a := DPDSGD()
	a.levels = []OwnLevel{{1, 1}, {1, 1}}
	s := Scenario{w, a, Attacker{}, every(t, 2)}
	if _, err := account(t, w, a, Attacker{}, 2); !errors.Is(err, ErrStrategy) {
		t.Errorf("levels of two nodes for three: %v", err)
	}
	s.Algorithm.levels = []OwnLevel{{1, 1}, {1, 1}, {2, 0.5}}
	if _, err := Assess(t.Context(), s, AssessOptions{Graph: g, Alpha: 2, Sigma: 1}); err == nil {
		t.Error("one level beside all nodes' own was taken")
	}
	r, err := Assess(t.Context(), s, AssessOptions{Graph: g, Alpha: 2})
	if err != nil || *r.Pairs[0].Mu != *r.LocalMu || *r.Pairs[2].Mu > 0.51**r.LocalMu || *r.Pairs[2].Sigma != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	changing, err := s.Algorithm.Under(Training{Spec: workload.Spec{Changes: workload.Changes{LinkFailures: 0.1}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := account(t, w, changing, Attacker{}, 2); !errors.Is(err, ErrStrategy) {
		t.Errorf("a network that changes: %v", err)
	}
}

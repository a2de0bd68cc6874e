package threat

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/strategy"
)

// The middle of path:3 between an attacker and a victim, T = 2, k = 1.
func middle(t testing.TB) (Scenario, int) {
	_, w := gossip(t, "path:3", graph.Uniform)
	schema, err := participation.NewCyclic(2, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	return Scenario{w, DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{2}}, schema}, 0
}

// The example of docs/mathematics.md against Bellet et al., Theorem 7, and Koskela & Kulkarni, Theorem 12: where the hidden
// node between answers, what the attacker learns is 676/685 and not 1/10. Both are computed from the definition.
func TestReactionsBreakTheNetworkClaim(t *testing.T) {
	s, victim := middle(t)
	found := map[int]Exposure{}
	if err := Account(context.Background(), s, func(e Exposure) error { found[e.Victim] = e; return nil }); err != nil {
		t.Fatal(err)
	}
	claim, err := Exact.Squared(found[victim], s.Schema, math.Inf(1))
	if err != nil || math.Abs(claim-0.1) > 1e-6 {
		t.Errorf("claim %v, %v", claim, err)
	}
	local, err := s.Algorithm.Local(s.Schema)
	if err != nil || math.Abs(local-1) > 1e-6 {
		t.Errorf("local DP %v, %v", local, err)
	}
	p, err := s.protocol()
	if err != nil {
		t.Fatal(err)
	}
	p.reactTo(Clip{Gain: 25, Bound: math.Inf(1)}, 1) // the message of the middle is 26θ and noise
	view, err := p.written()
	if err != nil {
		t.Fatal(err)
	}
	exposure, err := view.Exposure(victim)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := Exact.Squared(exposure, s.Schema, math.Inf(1))
	if err != nil || math.Abs(truth-676./685) > 1e-6 || truth > local {
		t.Errorf("with answers %v, %v; want %v", truth, err, 676./685)
	}
}

// Nodes that react break the claim of a network's nodes by experiment, with answers that are clipped, too; local DP holds.
func TestAuditOfAnswers(t *testing.T) {
	s, victim := middle(t)
	for _, answer := range []Answer{Clip{10, 1}, Clip{10, 10}, Clip{25, 50}, Clip{25, math.Inf(1)}, Linear{26}} {
		r, err := Audit(context.Background(), s, victim, AuditOptions{Random: rand.NewPCG(1, 0), Runs: 10000, Answer: answer})
		if err != nil || r.Passed || !(r.Low > 1.2*r.Claimed) || math.Abs(r.Claimed-math.Sqrt(0.1)) > 1e-6 {
			t.Errorf("%v: %+v, %v", answer, r, err)
			continue
		}
		if !*r.LocalHolds || r.Low > *r.Local || math.Abs(*r.Local-1) > 1e-6 {
			t.Errorf("%v against local DP: %+v", answer, r)
		}
		if linear := isLinear(answer); linear != (math.Abs(r.Reachable-math.Sqrt(676./685)) < 1e-6) ||
			linear && (r.Reachable < r.Low || r.Reachable > r.High) {
			t.Errorf("%v: reachable %+v", answer, r)
		}
	}
	quiet := Clip{1e-6, 1}
	if r, err := Audit(context.Background(), s, victim, AuditOptions{Random: rand.NewPCG(1, 0), Runs: 10000, Answer: quiet}); err != nil || !r.Passed {
		t.Errorf("nodes that hardly react: %+v, %v", r, err)
	}
}

// Claims for public messages are not broken by any reaction, and no network's node learns more than local DP.
func TestAnswersBreakNoPublicClaim(t *testing.T) {
	w := kite(t)
	decor, err := DECOR(1, 3)
	if err != nil {
		t.Fatal(err)
	}
	cases := audited(t)
	cases["decor, local DP"] = struct {
		algorithm Algorithm
		attacker  Attacker
	}{decor, Attacker{}}
	for name, tc := range cases {
		for _, answer := range []Answer{Clip{10, 1}, Clip{3, math.Inf(1)}, Linear{4}, Clip{-4, 2}} {
			r, err := Audit(context.Background(), Scenario{w, tc.algorithm, tc.attacker, mustCyclic(t, 8, 2)}, 2,
				AuditOptions{Random: rand.NewPCG(3, 4), Runs: 4000, Answer: answer})
			switch {
			case err != nil:
				t.Errorf("%s, %v: %v", name, answer, err)
				continue
			case tc.attacker.Trust != PNDP && !r.Passed:
				t.Errorf("%s, %v: %+v", name, answer, r)
			}
			if r.LocalHolds != nil && !*r.LocalHolds {
				t.Errorf("%s, %v: local DP is broken: %+v", name, answer, r)
			}
			if linear := isLinear(answer); linear && tc.attacker.Trust != PNDP && (r.High < r.Claimed*0.99) {
				t.Errorf("%s, %v: the attack is weak: %+v", name, answer, r)
			}
		}
	}
}

// isLinear reports whether what an audit of an answer can reach is known exactly.
func isLinear(a Answer) bool {
	c, clips := a.(Clip)
	return !clips || c.linear()
}

// The worst answers of a class, played by the nodes of the protocol, reach what package reaction says they reach, and
// never more than its bound, which is the claim that is judged; of non-convex nodes they break the claim for gradients
// that do not react, exactly where statistics could not tell.
func TestAuditOfClassesHoldsTheBound(t *testing.T) {
	_, ring := gossip(t, "cycle:6", graph.Uniform)
	once, twice := mustCyclic(t, 4, 1), mustCyclic(t, 6, 2)
	path, victim := middle(t)
	root, err := strategy.SquareRoot(4, 4)
	if err != nil {
		t.Fatal(err)
	}
	muffliato, err := Muffliato(2)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		s      Scenario
		victim int
		answer string
		breaks bool // what is claimed without reactions
	}{
		"path, smooth":      {path, victim, "smooth:0.05", true},
		"path, convex":      {path, victim, "convex:0.1", false}, // on so short a path the largest answer, 1, is the worst
		"path, lipschitz":   {path, victim, "lipschitz:26", true},
		"ring, smooth":      {Scenario{ring, DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{0}}, once}, 2, "smooth:0.2", true},
		"ring, sums":        {Scenario{ring, DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{0}, SecureSummation: true}, once}, 2, "convex:0.5", true},
		"ring, coalition":   {Scenario{ring, DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{0, 1}}, twice}, 3, "smooth:0.1", true},
		"ring, correlated":  {Scenario{ring, AntiPGD(), Attacker{Trust: PNDP, Nodes: []int{0}}, once}, 2, "smooth:0.2", true},
		"ring, a strategy":  {Scenario{ring, MFDSGD(root), Attacker{Trust: PNDP, Nodes: []int{0}}, once}, 2, "smooth:0.2", true},
		"ring, two rounds":  {Scenario{ring, muffliato, Attacker{Trust: PNDP, Nodes: []int{0}}, once}, 3, "smooth:0.2", true},
		"ring, two records": {Scenario{ring, DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{0}}, twice}, 3, "strongly-convex:0.5,0.1", false},
	} {
		answer, err := ParseAnswer(tc.answer)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Audit(context.Background(), tc.s, tc.victim, AuditOptions{Random: rand.NewPCG(7, 8), Runs: 1000, Answer: answer, Sigma: 2})
		if err != nil || r.Reacting == nil {
			t.Errorf("%s: %+v, %v", name, r, err)
			continue
		}
		of := *r.Reacting
		if !r.Passed || !of.Holds || r.Claimed != of.Bound || r.Reachable > of.Bound || of.Bound > *r.Local*(1+1e-6) || of.From != tc.answer {
			t.Errorf("%s: %+v, %+v", name, r, of)
		}
		if of.Broken != tc.breaks || tc.breaks != (r.Reachable > of.Without) {
			t.Errorf("%s: %+v breaks %+v: %v", name, r, of, of.Broken)
		}
		bound, err := tc.s.reacting(context.Background(), tc.victim, answer.Class())
		if err != nil || bound.WorstAnswer > 4*r.Reachable*r.Reachable*(1+1e-6) {
			t.Errorf("%s: played answers reach %v, reaction says %v of them, %v", name, 4*r.Reachable*r.Reachable, bound.WorstAnswer, err)
		}
	}
}

// An audit of a class fails if the noise is less than claimed: the bound is judged by the simulated messages, too.
func TestAuditOfAClassFailsWithLessNoise(t *testing.T) {
	s, victim := middle(t)
	answer, err := ParseAnswer("smooth:0.2")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Audit(context.Background(), s, victim, AuditOptions{Random: rand.NewPCG(1, 0), Runs: 10000, Answer: answer, NoiseScale: 0.3})
	if err != nil || r.Passed || r.Reacting.Holds {
		t.Errorf("%+v, %+v, %v", r, r.Reacting, err)
	}
}

// The worst answers of a class are for attacks on a network, not for public messages or noise that nodes share.
func TestAuditOfAClassNeedsANetwork(t *testing.T) {
	s, victim := middle(t)
	answer := Worst{Reaction{Kind: Smooth, X: 1}}
	decor, err := DECOR(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	public, shared := s, s
	public.Attacker = Attacker{}
	shared.Algorithm = decor
	for name, s := range map[string]Scenario{"public": public, "shared": shared} {
		r, err := Audit(context.Background(), s, victim, AuditOptions{Random: rand.NewPCG(1, 0), Answer: answer})
		if !errors.Is(err, ErrAudit) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		r, err = Audit(context.Background(), s, victim, AuditOptions{Random: rand.NewPCG(1, 0), Answer: Linear{2}})
		if err != nil || r.Reacting != nil {
			t.Errorf("%s, linear: %+v, %v", name, r, err)
		}
	}
}

// What a threshold proves is below the truth, and near it for normal statistics; equal ones prove nothing.
func TestTradeoff(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, mu := range []float64{0, 0.3, 1, 3, 12} {
		without, with := make([]float64, 20000), make([]float64, 20000)
		for i := range with {
			without[i], with[i] = rng.NormFloat64(), rng.NormFloat64()+mu
		}
		shown, err := TradeoffOf(without, with, 0.999)
		got, low, high := shown.Mu, shown.Low, shown.High
		if err != nil || low > mu || high != 0 && high < mu || mu < 5 && math.Abs(got-mu) > 0.2 || low < mu/2-0.2 {
			t.Errorf("of %v: %v, from %v to %v", mu, got, low, high)
		}
	}
}

func TestParseAnswer(t *testing.T) {
	for text, want := range map[string]Answer{"clip:10,1": Clip{10, 1}, "clip:-0.5,inf": Clip{-0.5, math.Inf(1)},
		"clip:1e3,2.5": Clip{1000, 2.5}, "linear:-2": Linear{-2}, "convex:0.5": Worst{Reaction{Kind: Convex, X: 0.5}},
		"strongly-convex:0.5,0.1": Worst{Reaction{Kind: StronglyConvex, X: 0.5, Y: 0.1}}} {
		a, err := ParseAnswer(text)
		if again, _ := ParseAnswer(a.String()); err != nil || a != want || again != want {
			t.Errorf("%s: %v, %v", text, a, err)
		}
	}
	for _, text := range []string{"", "clip", "clip:", "clip:1", "clip:1,", "clip:0,1", "clip:nan,1", "clip:inf,1", "clip:1,0",
		"clip:1,-1", "clip:1,nan", "clip:1,2,3", "10,1", "cut:10,1", "linear:", "linear:inf", "linear:1,2", "convex:-1", "smooth:nan",
		"smooth:1,2", "strongly-convex:1", "strongly-convex:1,2", "lipschitz:inf"} {
		if a, err := ParseAnswer(text); err == nil {
			t.Errorf("%q: %v", text, a)
		}
	}
}

func TestAnswerErrors(t *testing.T) {
	s, victim := middle(t)
	var wrong *fault.Argument
	if _, err := Audit(context.Background(), s, victim, AuditOptions{Random: rand.NewPCG(1, 0), Answer: Clip{}}); !errors.As(err, &wrong) || wrong.Field != "Answer" {
		t.Errorf("no answer: %v", err)
	}
	if v, there := s.NearestHidden(); v != victim || !there {
		t.Errorf("nearest hidden node %d, %v", v, there)
	}
	s.Attacker = Attacker{}
	if v, there := s.NearestHidden(); v != 0 || !there {
		t.Errorf("nearest node to everybody %d, %v", v, there)
	}
}

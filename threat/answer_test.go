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
	p.reactTo(&Answer{Gain: 25, Bound: math.Inf(1)}, 1) // the message of the middle is 26θ and noise
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
	for _, answer := range []Answer{{10, 1}, {10, 10}, {25, 50}, {25, math.Inf(1)}} {
		r, err := Audit(context.Background(), s, victim, AuditOptions{Random: rand.NewPCG(1, 0), Runs: 10000, Answer: &answer})
		if err != nil || r.Passed || !(r.Low > 1.2*r.Claimed) || math.Abs(r.Claimed-math.Sqrt(0.1)) > 1e-6 {
			t.Errorf("%v: %+v, %v", answer, r, err)
			continue
		}
		if !*r.LocalHolds || r.Low > *r.Local || math.Abs(*r.Local-1) > 1e-6 {
			t.Errorf("%v against local DP: %+v", answer, r)
		}
		if linear := math.IsInf(answer.Bound, 1); linear != (math.Abs(r.Reachable-math.Sqrt(676./685)) < 1e-6) ||
			linear && (r.Reachable < r.Low || r.Reachable > r.High) {
			t.Errorf("%v: reachable %+v", answer, r)
		}
	}
	quiet := Answer{1e-6, 1}
	if r, err := Audit(context.Background(), s, victim, AuditOptions{Random: rand.NewPCG(1, 0), Runs: 10000, Answer: &quiet}); err != nil || !r.Passed {
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
		for _, answer := range []Answer{{10, 1}, {3, math.Inf(1)}, {-4, 2}} {
			r, err := Audit(context.Background(), Scenario{w, tc.algorithm, tc.attacker, mustCyclic(t, 8, 2)}, 2,
				AuditOptions{Random: rand.NewPCG(3, 4), Runs: 4000, Answer: &answer})
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
			if linear := math.IsInf(answer.Bound, 1); linear && tc.attacker.Trust != PNDP && (r.High < r.Claimed*0.99) {
				t.Errorf("%s, %v: the attack is weak: %+v", name, answer, r)
			}
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
		got, low, high := tradeoff(without, with, 0.999)
		if low > mu || high != 0 && high < mu || mu < 5 && math.Abs(got-mu) > 0.2 || low < mu/2-0.2 {
			t.Errorf("of %v: %v, from %v to %v", mu, got, low, high)
		}
	}
}

func TestParseAnswer(t *testing.T) {
	for text, want := range map[string]Answer{"clip:10,1": {10, 1}, "clip:-0.5,inf": {-0.5, math.Inf(1)}, "clip:1e3,2.5": {1000, 2.5}} {
		a, err := ParseAnswer(text)
		if again, _ := ParseAnswer(a.String()); err != nil || a != want || again != want {
			t.Errorf("%s: %v, %v", text, a, err)
		}
	}
	for _, text := range []string{"", "clip", "clip:", "clip:1", "clip:1,", "clip:0,1", "clip:nan,1", "clip:inf,1", "clip:1,0",
		"clip:1,-1", "clip:1,nan", "clip:1,2,3", "10,1", "cut:10,1"} {
		if a, err := ParseAnswer(text); err == nil {
			t.Errorf("%q: %v", text, a)
		}
	}
}

func TestAnswerErrors(t *testing.T) {
	s, victim := middle(t)
	var wrong *fault.Argument
	if _, err := Audit(context.Background(), s, victim, AuditOptions{Random: rand.NewPCG(1, 0), Answer: &Answer{}}); !errors.As(err, &wrong) || wrong.Field != "Answer" {
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

package threat

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mafalda/accounting"
	"mafalda/graph"
	"mafalda/internal/fault"
)

// assess is Assess of DP-D-SGD with a record in every step, on a built-in graph with uniform gossip.
func assess(t *testing.T, name string, attacker Attacker, steps int, o AssessOptions) Report {
	t.Helper()
	g, w := gossip(t, name, graph.Uniform)
	o.Graph = g
	r, err := Assess(context.Background(), Scenario{w, DPDSGD(), attacker, every(t, steps)}, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAssessOneStep: in one step a neighbour's message carries its gradient under noise of its own, and nothing of
// anybody else is seen.
func TestAssessOneStep(t *testing.T) {
	const sigma, alpha, delta = 2, 3, 1e-5
	o := AssessOptions{Sigma: sigma, Alpha: alpha, Delta: delta, Reaction: Reaction{Kind: FixedInputs}}
	r := assess(t, "path:4", Attacker{Trust: PNDP, Nodes: []int{0}}, 1, o)
	if len(r.Pairs) != 4 || r.Attacker != "0" || r.Trust != "pndp" || r.Algorithm != "dp-d-sgd" || r.Local != 1 ||
		r.Unclear {
		t.Fatalf("%+v", r)
	}
	epsilon, err := accounting.Epsilon(1./sigma, delta)
	if err != nil {
		t.Fatal(err)
	}
	if own := r.Pairs[0]; !own.Infinite || own.SensSquared != nil || own.Mu != nil || *own.Distance != 0 {
		t.Errorf("the attacker itself: %+v", own)
	}
	next := r.Pairs[1]
	if *next.Distance != 1 || *next.SensSquared != 1 || !isAbove(*next.Mu, 1./sigma) ||
		!isAbove(*next.RDP, alpha/(2.*sigma*sigma)) || !isAbove(*next.Epsilon, epsilon) || *next.Cyffers != 1 {
		t.Errorf("a neighbour: mu %v, %v, %v", *next.Mu, *next.RDP, *next.Epsilon)
	}
	for i, p := range r.Pairs[2:] {
		if *p.Distance != i+2 || *p.SensSquared != 0 || *p.Mu != 0 || *p.RDP != 0 || *p.Epsilon != 0 {
			t.Errorf("node %s: %+v", p.Victim, p)
		}
	}
}

// isAbove reports whether v is at least w, and by no more than rounding.
func isAbove(v, w float64) bool { return v >= w && v <= w*(1+1e-12) }

// TestAssessIsAccount: whatever the scenario, every node is there once, in order, with the squared sensitivity of
// Account; none is above local DP, and no μ below what belongs to it.
func TestAssessIsAccount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawGossip(t)
		n, _ := w.Dims()
		steps := rapid.IntRange(1, 5).Draw(t, "T")
		s := Scenario{w, drawAlgorithm(t, n, steps), drawAttacker(t, n), every(t, steps)}
		found, err := account(t, w, s.Algorithm, s.Attacker, steps)
		unclear := errors.Is(err, ErrUnclear)
		if err != nil && !unclear {
			t.Fatal(err)
		}
		g, err := graph.New(strings.Split("a b c d e f g", " ")[:n], nil, true)
		if err != nil {
			t.Fatal(err)
		}
		o := AssessOptions{Graph: g, Sigma: rapid.Float64Range(0.1, 10).Draw(t, "sigma"), Alpha: 2, Measure: Absolute}
		if s.Attacker.Trust == PNDP {
			o.Reaction.Kind = FixedInputs
		}
		r, err := Assess(context.Background(), s, o)
		if err != nil || r.Unclear != unclear || len(r.Pairs) != n {
			t.Fatalf("%+v, %v", r, err)
		}
		local, err := s.Algorithm.Local(s.Schema)
		if err != nil {
			t.Fatal(err)
		}
		hops := graph.Hops(w, s.Attacker.Nodes)
		for _, p := range r.Pairs {
			v := slices.Index(g.Labels(), p.Victim)
			e, want := found[v], local
			switch {
			case slices.Contains(s.Attacker.Nodes, v):
				want = math.Inf(1)
			case !unclear:
				if want, err = Absolute.Squared(e, s.Schema, local); err != nil {
					t.Fatal(err)
				}
				if h := hops[v]; h >= 0 && len(s.Attacker.Nodes) > 0 && *p.Distance != h {
					t.Fatalf("%s is %d hops away, not %d", p.Victim, h, *p.Distance)
				}
			}
			if p.Infinite != math.IsInf(want, 1) {
				t.Fatalf("%+v, want %v", p, want)
			}
			if p.Infinite {
				continue
			}
			if *p.SensSquared != math.Max(want, 0) || *p.Mu*o.Sigma < math.Sqrt(*p.SensSquared)*(1-1e-16) {
				t.Fatalf("%s: sens² %v, want %v, mu %v", p.Victim, *p.SensSquared, want, *p.Mu)
			}
		}
		if !slices.IsSortedFunc(r.Pairs, func(p, q Pair) int { return p.hops() - q.hops() }) {
			t.Fatalf("not by distance: %+v", r.Pairs)
		}
		text, err := json.Marshal(r)
		var again Report
		if err != nil || json.Unmarshal(text, &again) != nil {
			t.Fatalf("%s, %v", text, err)
		}
		if again.Unclear = unclear; !reflect.DeepEqual(again, r) {
			t.Fatalf("%+v from JSON, %+v before", again, r)
		}
	})
}

// TestFallBack: where the view is unclear, everybody but the attackers has local DP, and no distance; nothing found
// before is kept.
func TestFallBack(t *testing.T) {
	g, w := gossip(t, "cycle:4", graph.Uniform)
	s := Scenario{w, DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{1}}, every(t, 3)}
	a := &assessment{scenario: s, hops: graph.Hops(w, []int{1}), options: AssessOptions{Graph: g, Sigma: 1, Alpha: 2, Local: 3,
		Reaction: Reaction{Kind: FixedInputs}}}
	if err := errors.Join(a.add(0, 0.5, nil), a.fallBack()); err != nil {
		t.Fatal(err)
	}
	r, err := a.report()
	if err != nil || len(r.Pairs) != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	for i, victim := range []string{"0", "2", "3"} {
		if p := r.Pairs[i]; p.Victim != victim || *p.SensSquared != 3 || p.Distance != nil || p.Cyffers != nil {
			t.Errorf("%+v", p)
		}
	}
}

func TestAssessErrors(t *testing.T) {
	g, w := gossip(t, "cycle:4", graph.Uniform)
	other, _ := gossip(t, "cycle:5", graph.Uniform)
	s := Scenario{w, DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{1}}, every(t, 3)}
	good := AssessOptions{Graph: g, Sigma: 1, Alpha: 2}
	for field, spoil := range map[string]func(o *AssessOptions){
		"Graph":   func(o *AssessOptions) { o.Graph = other },
		"Measure": func(o *AssessOptions) { o.Measure = Certain + 1 },
		"Sigma":   func(o *AssessOptions) { o.Sigma = 0 },
		"Alpha":   func(o *AssessOptions) { o.Alpha = 1 },
		"Delta":   func(o *AssessOptions) { o.Delta = 1 },
		"Local":   func(o *AssessOptions) { o.Local = math.NaN() },
	} {
		o := good
		spoil(&o)
		var wrong *fault.Argument
		if _, err := Assess(context.Background(), s, o); !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	nobody := s
	nobody.Attacker.Nodes = nil
	if _, err := Assess(context.Background(), nobody, good); !errors.Is(err, ErrAttacker) {
		t.Errorf("nobody attacks: %v", err)
	}
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(stop)
	if _, err := Assess(ctx, s, good); !errors.Is(err, stop) {
		t.Errorf("stopped: %v", err)
	}
	if _, err := Growth(ctx, s, 4, good); !errors.Is(err, context.Canceled) && !errors.Is(err, stop) {
		t.Errorf("stopped growth: %v", err)
	}
}

// Pairs are looked at from near to far, always: what the first ones need is tried first for the next, and the same
// question must have the same answer.
func TestWorstPairsAreInOrder(t *testing.T) {
	a := &assessment{}
	for v := range 40 {
		a.found = append(a.found, &finding{v, Pair{Distance: new(1 + (7*v)%20), SensSquared: new(float64(v % 3))}})
	}
	worst := a.worst()
	if len(worst) != 20 || !slices.IsSortedFunc(worst, func(f, g *finding) int { return f.pair.hops() - g.pair.hops() }) {
		t.Errorf("%d pairs, in another order", len(worst))
	}
}

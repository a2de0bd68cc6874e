package threat

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/threat/reaction"
)

// The statistic for linear answers reaches what the counterexample of docs/mathematics.md does.
func TestStatisticOfAnswers(t *testing.T) {
	s, victim := middle(t)
	answers := [][]float64{{1, 1, 1}, {1, 26, 1}}
	r, err := s.Statistic(context.Background(), victim, []float64{1, 0}, answers, 1)
	if err != nil || math.Abs(r.Mu-math.Sqrt(676./685)) > 1e-6 {
		t.Fatalf("%+v, %v", r, err)
	}
	if mean := mat.Sum(mat.NewVecDense(len(r.Weights[1]), r.Weights[1])); mean <= 0 {
		t.Errorf("a change upwards lowers the statistic: weights %v", r.Weights)
	}
}

// The attacker's own gradients and noise add nothing to the messages that it sees: the statistic of messages alone reaches
// what Account says of a change.
func TestStatisticOfMessagesReachesTheView(t *testing.T) {
	_, w := gossip(t, "florentine", graph.Uniform)
	for name, algorithm := range map[string]Algorithm{"dp-d-sgd": DPDSGD(), "antipgd": AntiPGD()} {
		s := Scenario{w, algorithm, Attacker{Trust: PNDP, Nodes: []int{3}}, mustCyclic(t, 6, 2)}
		found := map[int]Exposure{}
		if err := Account(context.Background(), s, func(e Exposure) error { found[e.Victim] = e; return nil }); err != nil {
			t.Fatal(err)
		}
		for _, victim := range []int{0, 8, 12} {
			change := []float64{1, 0, 0, 1, 0, 0}
			c := mat.NewVecDense(6, change)
			want := math.Sqrt(mat.Inner(c, found[victim].M, c)) / 2
			r, err := s.Statistic(context.Background(), victim, change, nil, 2)
			if err != nil || math.Abs(r.Mu-want) > 1e-4*want || len(r.Weights) != 6 || len(r.Weights[0]) != len(r.Nodes) {
				t.Errorf("%s, victim %d: %+v, %v; want %v", name, victim, r, err, want)
			}
		}
	}
}

func TestProven(t *testing.T) {
	s, victim := middle(t)
	smooth, none := reaction.Class{Rho: 1, Kappa: 0.5}, reaction.Class{Rho: 1}
	for name, tc := range map[string]struct {
		class *reaction.Class
		bound float64
	}{"no class": {nil, 1}, "smooth": {&smooth, math.Sqrt(0.2)}, "no reaction": {&none, math.Sqrt(0.1)}} {
		p, err := s.Proven(context.Background(), victim, tc.class, 2)
		if err != nil || math.Abs(p.Bound-tc.bound/2) > 1e-6 || p.Bound < tc.bound/2*(1-1e-12) || math.Abs(p.Local-0.5) > 1e-6 ||
			math.Abs(p.Without-math.Sqrt(0.1)/2) > 1e-6 {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	var wrong *fault.Argument
	if _, err := s.Proven(context.Background(), victim, nil, 0); !errors.As(err, &wrong) {
		t.Errorf("no noise: %v", err)
	}
	if _, err := s.Statistic(context.Background(), victim, []float64{1}, nil, 1); !errors.As(err, &wrong) {
		t.Errorf("a change of one step: %v", err)
	}
	s.Attacker.SecureSummation = true
	if _, err := s.Statistic(context.Background(), victim, []float64{1, 0}, nil, 1); !errors.Is(err, ErrAudit) {
		t.Errorf("sums: %v", err)
	}
	if _, err := TradeoffOf([]float64{1}, []float64{2}, 0.9); !errors.Is(err, ErrRuns) {
		t.Errorf("one run: %v", err)
	}
	if _, err := TradeoffOf(make([]float64, 20), make([]float64, 20), 1); !errors.As(err, &wrong) {
		t.Errorf("certainty: %v", err)
	}
}

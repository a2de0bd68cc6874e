package threat

import (
	"context"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"mafalda/graph"
	"mafalda/participation"
)

// TestGrowthIsAssess: means of what Assess says for a record in every step, over the neighbours and over all others.
func TestGrowthIsAssess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, w := gossip(t, rapid.SampledFrom([]string{"path:4", "star:5", "florentine"}).Draw(t, "graph"), graph.Metropolis)
		steps := rapid.IntRange(1, 6).Draw(t, "T")
		s := Scenario{Gossip: w, Algorithm: DPDSGD(), Attacker: Attacker{Trust: PNDP, Nodes: []int{0}}}
		s.Attacker.SecureSummation = rapid.Bool().Draw(t, "secure")
		o := AssessOptions{Graph: g, Measure: Absolute, Sigma: 1, Alpha: 2, Reaction: Reaction{Kind: FixedInputs}}
		row, err := Growth(context.Background(), s, steps, o)
		if err != nil {
			t.Fatal(err)
		}
		s.Schema = every(t, steps)
		r, err := Assess(context.Background(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		var neighbours, others mean
		for _, p := range r.Pairs[1:] {
			if *p.Distance == 1 {
				neighbours.add(*p.SensSquared / float64(steps))
			} else {
				others.add(*p.SensSquared / float64(steps))
			}
		}
		if !near(row.Neighbours, neighbours.value()) || !near(row.Others, others.value()) || row.Steps != steps {
			t.Fatalf("%+v, means %+v, %+v", row, neighbours, others)
		}
		if limit := 1 / float64(g.Nodes()-1); s.Attacker.SecureSummation != near(row.Asymptote, &limit) {
			t.Fatalf("asymptote %v, want %v", row.Asymptote, limit)
		}
	})
}

// near reports whether both are there and equal up to the order of their sums.
func near(a, b *float64) bool {
	return a == b || a != nil && b != nil && math.Abs(*a-*b) <= 1e-12*(1+math.Abs(*b))
}

func TestGrowthErrors(t *testing.T) {
	_, w := gossip(t, "cycle:4", graph.Uniform)
	s := Scenario{Gossip: w, Algorithm: MFDSGD(mustBanded(t, 5)), Attacker: Attacker{Trust: PNDP, Nodes: []int{0}}}
	if _, err := Growth(context.Background(), s, 4, AssessOptions{}); !errors.Is(err, ErrStrategy) {
		t.Errorf("a strategy of other length: %v", err)
	}
	if _, err := Growth(context.Background(), s, 0, AssessOptions{}); err == nil {
		t.Error("no steps")
	}
}

// The asymptote holds for equal gradients only: gradients of changing signs lose more, however long the run.
func TestAsymptoteIsNoBound(t *testing.T) {
	const steps = 60
	_, w := gossip(t, "path:6", graph.Metropolis)
	schema, err := participation.NewCyclic(steps, steps, 1)
	if err != nil {
		t.Fatal(err)
	}
	s := Scenario{Gossip: w, Algorithm: DPDSGD(), Schema: schema,
		Attacker: Attacker{Trust: PNDP, Nodes: []int{1}, SecureSummation: true, ForgetOwnNoise: true}}
	largest := 0.0
	if err := Account(t.Context(), s, func(e Exposure) error {
		if e.Infinite || e.Victim != 0 {
			return nil
		}
		var worst float64 // what gradients of alternating signs reach
		for _, alternating := range []bool{false, true} {
			var sum float64
			for i := range steps {
				for j := range steps {
					sign := 1.0
					if alternating && (i+j)%2 == 1 {
						sign = -1
					}
					sum += sign * e.M.At(i, j)
				}
			}
			worst = max(worst, sum/steps)
		}
		largest = max(largest, worst)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if largest <= 1.2*AsymptoteSquared(1, 6, steps, true)/steps {
		t.Errorf("victim 0 loses %v a step, the asymptote is %v", largest, AsymptoteSquared(1, 6, steps, true)/steps)
	}
}

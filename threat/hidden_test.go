package threat

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// firstStep is participation in the first step alone.
type firstStep struct{ participation.Schema }

func (firstStep) Patterns() [][]int { return [][]int{{0}} }

// Of nodes that do not react, as a class (ρ = 1, κ = 0), and for a record in the first step alone, package reaction and
// the matrix M of the view say the same, whatever algorithm, training, networks and attackers are: it is the same system.
// (Of later steps M is smaller: noise of steps before hides a gradient that is known beforehand, and no reaction.)
func TestBoundOfNoReactionIsTheView(t *testing.T) {
	optimizer := func(o workload.Optimizer) *workload.Spec { return &workload.Spec{Optimizer: o} }
	specs := map[string]*workload.Spec{
		"plain": nil, "momentum": optimizer(workload.Optimizer{Momentum: 0.9}),
		"nesterov":         optimizer(workload.Optimizer{Momentum: 0.5, Nesterov: true}),
		"decay and rates":  optimizer(workload.Optimizer{WeightDecay: 0.3, LearningRates: workload.ListedRates([]float64{1, 0.5, 2, 0.7, 1, 1})}),
		"momentum, rates":  optimizer(workload.Optimizer{Momentum: 0.9, LearningRates: workload.ListedRates([]float64{1, 0.5, 2, 0.7, 1, 1})}),
		"local steps":      optimizer(workload.Optimizer{LocalSteps: 2}),
		"rounds":           optimizer(workload.Optimizer{GossipRounds: 2}),
		"rounds, momentum": optimizer(workload.Optimizer{GossipRounds: 2, Momentum: 0.4}),
		"links fail":       {Changes: workload.Changes{LinkFailures: 0.3}},
		"nodes fail":       {Changes: workload.Changes{NodeFailures: 0.3}, Optimizer: workload.Optimizer{GossipRounds: 2}},
		"neighbours":       {Changes: workload.Changes{RandomNeighbours: 2}},
	}
	const steps = 6
	single, err := participation.NewCyclic(steps, 1, steps)
	if err != nil {
		t.Fatal(err)
	}
	c := mat.DenseCopyOf(eye(steps))
	for i := range steps {
		for j := max(0, i-2); j < i; j++ {
			c.Set(i, j, 0.6/float64(i-j))
		}
	}
	bands, err := strategy.NewBanded(c, 3)
	if err != nil {
		t.Fatal(err)
	}
	dense, err := strategy.NewDense(c)
	if err != nil {
		t.Fatal(err)
	}
	muffliato, err := Muffliato(3)
	if err != nil {
		t.Fatal(err)
	}
	algorithms := map[string]Algorithm{"independent": DPDSGD(), "antipgd": AntiPGD(), "banded": MFDSGD(bands),
		"dense": MFDSGD(dense), "muffliato": muffliato, "identity": MFDSGD(strategy.Identity(steps))}
	g, w := gossip(t, "florentine", graph.Uniform)
	for name, spec := range specs {
		for of, a := range algorithms {
			if spec != nil {
				if of == "muffliato" {
					continue
				}
				if a, err = a.Under(Training{Spec: *spec, Seed: 4}); err != nil {
					t.Fatal(err)
				}
			}
			for _, attacker := range []Attacker{{Trust: PNDP, Nodes: []int{8}}, {Trust: PNDP, Nodes: []int{8}, SecureSummation: true},
				{Trust: PNDP, Nodes: []int{2, 11}}} {
				s := Scenario{w, a, attacker, firstStep{single}}
				r, err := Assess(context.Background(), s, AssessOptions{Graph: g, Sigma: 1, Alpha: 2, Reaction: Reaction{Kind: Convex}})
				if err != nil {
					t.Fatal(err)
				}
				if r.Unclear || r.Why != "" {
					t.Errorf("%s, %s: unclear %v, %s", name, of, r.Unclear, r.Why)
					continue
				}
				for _, p := range r.Pairs[len(attacker.Nodes):] {
					if got, want := *p.SensSquared, *p.WithoutReaction; got < want*(1-1e-9) || got > want*(1+1e-5)+1e-11 {
						t.Errorf("%s, %s, %v: victim %s: %v, not %v", name, of, attacker, p.Victim, got, want)
					}
					if *p.Local < *p.WithoutReaction*(1-1e-9) {
						t.Errorf("%s, %s: local DP %v is below %v", name, of, *p.Local, *p.WithoutReaction)
					}
				}
			}
		}
	}
}

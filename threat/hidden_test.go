package threat

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

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
					if got, want := *cmp.Or(p.DrawnSensSquared, p.SensSquared), *p.WithoutReaction; got < want*(1-1e-9) || got > want*(1+1e-5)+1e-11 {
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

// Whatever the scenario and the class, a bound is between the worst answers that were found and local DP of the pair; a
// refined one is not above one of all victims at once; wider classes have larger bounds; and the distance with the most
// refined pair has its bound.
func TestReactingPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawGossip(t)
		n, _ := w.Dims()
		steps := rapid.IntRange(1, 5).Draw(t, "T")
		k := rapid.IntRange(1, steps).Draw(t, "k")
		schema, err := participation.NewCyclic(steps, k, max(1, steps/k))
		if err != nil {
			t.Fatal(err)
		}
		attacker := Attacker{Trust: PNDP, Nodes: []int{rapid.IntRange(0, n-1).Draw(t, "attacker")},
			SecureSummation: rapid.Bool().Draw(t, "sums")}
		a := rapid.SampledFrom([]Algorithm{DPDSGD(), AntiPGD()}).Draw(t, "algorithm")
		s := Scenario{w, a, attacker, schema}
		g, err := graph.New(strings.Split("a b c d e f g", " ")[:n], nil, true)
		if err != nil {
			t.Fatal(err)
		}
		x := rapid.Float64Range(0, 2).Draw(t, "x")
		kind := rapid.SampledFrom([]Kind{Convex, Smooth, ClippedConvex, Lipschitz}).Draw(t, "class")
		of := func(r Reaction, refine bool) map[string]Pair {
			o := AssessOptions{Graph: g, Sigma: 1, Alpha: 2, Reaction: r, Refine: refine, Worst: r.classed()}
			report, err := Assess(context.Background(), s, o)
			if err != nil {
				t.Fatal(err)
			}
			pairs := map[string]Pair{}
			for _, p := range report.Pairs[1:] {
				pairs[p.Victim] = p
			}
			return pairs
		}
		any, all, refined := of(Reaction{}, false), of(Reaction{Kind: kind, X: x}, false), of(Reaction{Kind: kind, X: x}, true)
		for v, p := range all { // attacks are on the pairs that lose most
			for u, q := range all {
				if same := *q.SensSquared == *p.SensSquared; p.Worst != nil && q.hops() == p.hops() &&
					(*q.SensSquared > *p.SensSquared || same && *q.WithoutReaction > *p.WithoutReaction || *p.Worst > *p.SensSquared) {
					t.Fatalf("an attack on %s, which loses %v, not on %s, which loses %v", v, *p.SensSquared, u, *q.SensSquared)
				}
			}
		}
		most, which := map[int]float64{}, map[int]string{}
		for v, p := range refined {
			local := *any[v].SensSquared
			if *any[v].Local != local || *p.Local != local || *p.WithoutReaction > local*(1+1e-6) {
				t.Fatalf("%s: local DP %v, %v, without reaction %v", v, local, *p.Local, *p.WithoutReaction)
			}
			if *p.SensSquared > *all[v].SensSquared || *all[v].SensSquared > local {
				t.Fatalf("%s: %v refined, %v of all at once, %v local DP", v, *p.SensSquared, *all[v].SensSquared, local)
			}
			if p.Worst != nil && *p.Worst > *p.SensSquared {
				t.Fatalf("%s: an attack reaches %v, and the bound is %v", v, *p.Worst, *p.SensSquared)
			}
			if k == 1 && kind != Lipschitz && kind != ClippedConvex && *p.SensSquared < *p.WithoutReaction*(1-1e-3) &&
				p.Bound == Refined && a.Name() == "dp-d-sgd" {
				t.Fatalf("%s: %v, and %v without reaction, which is in the class", v, *p.SensSquared, *p.WithoutReaction)
			}
			if d := p.hops(); *p.SensSquared > most[d] || *p.SensSquared == most[d] && p.Bound != AllPairs { // any that loses most
				most[d], which[d] = *p.SensSquared, p.Bound
			}
		}
		for d, bound := range which {
			if bound == AllPairs {
				t.Fatalf("distance %d: the pair that loses most is not refined", d)
			}
		}
	})
}

// Attacks are on all refined pairs that may lose more: the one with the largest bound is not always the one of which
// most is reached.
func TestAttacksAreOnAllRefinedPairs(t *testing.T) {
	g, w := gossip(t, "florentine", graph.Uniform)
	single, err := participation.NewCyclic(10, 1, 10)
	if err != nil {
		t.Fatal(err)
	}
	medici := slices.Index(g.Labels(), "Medici")
	s := Scenario{w, DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{medici}, SecureSummation: true}, single}
	report, err := Assess(context.Background(), s, AssessOptions{Graph: g, Sigma: 1, Alpha: 2,
		Reaction: Reaction{Kind: Lipschitz, X: 1.2}, Refine: true, Worst: true})
	if err != nil {
		t.Fatal(err)
	}
	most := 0.0
	for _, p := range report.Pairs {
		if p.Worst != nil && p.hops() == 1 {
			most = math.Max(most, *p.Worst)
		}
	}
	if most < 0.2935 {
		t.Errorf("attacks on neighbours reach %v", most)
	}
}

// What is reported of drawn networks is the same for every draw, and no draw leaks more: a step counts if a message of it can
// arrive over the links that there may be.
func TestDrawnNetworksHaveOneNumberForAllDraws(t *testing.T) {
	g, w := gossip(t, "path:4", graph.Uniform)
	turns, err := workload.NewSequence([]*graph.CSR{w, graph.NewCSRFromDense(mat.NewDiagDense(4, []float64{1, 1, 1, 1}))}, "")
	if err != nil {
		t.Fatal(err)
	}
	two, err := participation.NewCyclic(4, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		changes workload.Changes
		schema  participation.Schema
		of      Algorithm
		want    [3]float64 // how often a record of the nodes 2, 1 and 0 can arrive, for independent noise
	}{
		"links":      {workload.Changes{LinkFailures: 0.5}, every(t, 4), DPDSGD(), [3]float64{4, 3, 2}},
		"twice":      {workload.Changes{LinkFailures: 0.5}, two, DPDSGD(), [3]float64{2, 2, 1}},
		"short":      {workload.Changes{LinkFailures: 0.5}, every(t, 2), DPDSGD(), [3]float64{2, 1, 0}},
		"nodes":      {workload.Changes{NodeFailures: 0.3}, every(t, 3), DPDSGD(), [3]float64{3, 2, 1}},
		"sequence":   {workload.Changes{LinkFailures: 0.5, GraphSequence: turns}, every(t, 4), DPDSGD(), [3]float64{3, 1, 0}},
		"anybody":    {workload.Changes{RandomNeighbours: 1}, every(t, 3), DPDSGD(), [3]float64{3, 3, 3}},
		"correlated": {workload.Changes{LinkFailures: 0.5}, every(t, 3), AntiPGD(), [3]float64{}},
		"momentum":   {workload.Changes{LinkFailures: 0.5}, every(t, 4), DPDSGD(), [3]float64{4, 3, 2}},
		"rounds":     {workload.Changes{LinkFailures: 0.3}, every(t, 2), DPDSGD(), [3]float64{2, 2, 1}},
		"local":      {workload.Changes{LinkFailures: 0.3}, every(t, 4), DPDSGD(), [3]float64{4, 2, 0}},
	} {
		spec := workload.Spec{Changes: tc.changes}
		switch name {
		case "momentum":
			spec.Momentum = 0.5
		case "rounds":
			spec.GossipRounds = 2
		case "local":
			spec.LocalSteps = 2
		}
		var most, always [3]float64
		for seed := range uint64(60) {
			a, err := tc.of.Under(Training{Spec: spec, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			s := Scenario{w, a, Attacker{Trust: PNDP, Nodes: []int{3}}, tc.schema}
			for _, of := range []Reaction{{}, {Kind: FixedInputs}, {Kind: Convex, X: 0.5}} {
				o := AssessOptions{Graph: g, Sigma: 1, Alpha: 2, Reaction: of}
				r, err := Assess(context.Background(), s, o)
				if err != nil {
					t.Fatal(err)
				}
				row, err := Growth(context.Background(), s, tc.schema.Steps(), o)
				if err != nil || row.NeighboursDrawn == nil || *row.NeighboursDrawn > *row.Neighbours*(1+1e-9) {
					t.Fatalf("%s, seed %d, %v: %+v, %v", name, seed, of, row, err)
				}
				if r.HoldsFor != WhateverIsDrawn || !strings.Contains(r.DrawnHoldsFor, of.HoldsFor(PNDP)) || *r.Drawn != seed {
					t.Fatalf("%s: %q, %q", name, r.HoldsFor, r.DrawnHoldsFor)
				}
				for i, p := range r.Pairs[1:] {
					if seed == 0 && of.Kind == AnyReaction {
						always[i] = *p.SensSquared
					}
					if *p.SensSquared != always[i] || *p.Local != always[i] || p.Bound != LocalDP || *p.DrawnSensSquared > always[i]*(1+1e-9) ||
						p.WithoutReaction != nil && *p.WithoutReaction > always[i]*(1+1e-9) {
						t.Fatalf("%s, seed %d, %v: %+v of %v", name, seed, of, p, always[i])
					}
					most[i] = math.Max(most[i], *p.DrawnSensSquared)
				}
			}
		}
		for i, want := range tc.want {
			if tc.of.Name() == DPDSGD().Name() && math.Abs(always[i]-want) > 1e-9 || most[i] < always[i]*(1-1e-6) {
				t.Errorf("%s: node %d: %v for all draws, want %v; a draw has %v", name, 2-i, always[i], want, most[i])
			}
		}
	}
}

// On a path of three nodes, in two steps, the middle node hears a third of the far end's message and passes on up to d
// times that under noise of its own: d²/(d²+9) of the record is seen, 676/685 for d = 26, and no class needs more.
func TestPathOfThreeReacts(t *testing.T) {
	g, w := gossip(t, "path:3", graph.Uniform)
	single, err := participation.NewCyclic(2, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	s := Scenario{w, DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{2}}, single}
	for of, d := range map[Reaction]float64{{Kind: Smooth, X: 1}: 2, {Kind: Smooth, X: 25}: 26, {Kind: Convex, X: 1.5}: 1,
		{Kind: ClippedConvex, X: 1}: 1 - 0.375 + 0.375*math.Sqrt(3), {Kind: StronglyConvex, X: 1, Y: 0.4}: 0.6,
		{Kind: Lipschitz, X: 1.2}: 1.2, {Kind: FixedInputs}: 1} {
		o := AssessOptions{Graph: g, Sigma: 1, Alpha: 2, Reaction: of, Refine: of.classed(), Worst: of.classed()}
		r, err := Assess(context.Background(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		far, want := r.Pairs[2], d*d/(d*d+9)
		if *far.SensSquared < want*(1-1e-12) || *far.SensSquared > want*(1+2e-7) || *far.Local != 1 ||
			of.classed() && !(*far.Worst > want*(1-1e-6)) {
			t.Errorf("%v: %+v, %v, want %v", of, far, *far.SensSquared, want)
		}
		again, err := ParseReaction(of.String())
		if err != nil || again != of || of.classed() != (r.Reaction != nil) {
			t.Errorf("%v: %v, %v, %+v", of, again, err, r.Reaction)
		}
	}
}

// No privacy follows from what is certainly lost, and nothing says that it holds.
func TestLowerBoundsPromiseNothing(t *testing.T) {
	g, w := gossip(t, "path:3", graph.Uniform)
	for _, trust := range []Trust{PNDP, LDP} {
		s := Scenario{w, DPDSGD(), Attacker{Trust: trust}, every(t, 3)}
		o := AssessOptions{Graph: g, Sigma: 1, Alpha: 2, Delta: 1e-5, Measure: Certain}
		if trust == PNDP {
			s.Attacker.Nodes, o.Reaction.Kind = []int{0}, FixedInputs
		}
		r, err := Assess(context.Background(), s, o)
		if err != nil || r.HoldsFor != Lost || r.LocalMu == nil {
			t.Fatalf("%+v, %v", r, err)
		}
		for _, p := range r.Pairs {
			if p.Mu != nil || p.RDP != nil || p.Epsilon != nil || p.SensSquared == nil && !p.Infinite {
				t.Errorf("%v: %+v", trust, p)
			}
		}
		if rows := ByDistance([]Report{r}); rows[0].Mu != 0 || rows[0].Most == 0 {
			t.Errorf("%+v", rows)
		}
	}
}

// What package reaction does not cover has local DP, and says why.
func TestUncoveredAlgorithmsHaveLocalDP(t *testing.T) {
	g, w := gossip(t, "path:4", graph.Uniform)
	decor, err := DECOR(1, 2)
	if err != nil {
		t.Fatal(err)
	}
	training := func(s workload.Spec) Algorithm {
		a, err := DPDSGD().Under(Training{Spec: s})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	optimizer := func(o workload.Optimizer) Algorithm { return training(workload.Spec{Optimizer: o}) }
	for want, a := range map[string]Algorithm{
		"Zip-DL": ZipDL(), "nodes share": decor, "tracking": optimizer(workload.Optimizer{GradientTracking: true}),
		"miss":      training(workload.Spec{Absence: workload.Absence{MissedSteps: 0.2}}),
		"rate of 0": optimizer(workload.Optimizer{LearningRates: workload.ListedRates([]float64{1, 0, 1, 1})}),
		"of their own": MFDSGDPerNode([]strategy.Strategy{strategy.Identity(4), strategy.Identity(4), strategy.Identity(4),
			strategy.Identity(4)}),
	} {
		s := Scenario{w, a, Attacker{Trust: PNDP, Nodes: []int{0}}, every(t, 4)}
		r, err := Assess(context.Background(), s, AssessOptions{Graph: g, Sigma: 1, Alpha: 2, Reaction: Reaction{Kind: Smooth, X: 0.1},
			Refine: true})
		if err != nil || !strings.Contains(r.Why, want) {
			t.Errorf("%s: %q, %v", want, r.Why, err)
		}
		for _, p := range r.Pairs[1:] {
			if p.Bound != LocalDP || p.Infinite != a.zip || !p.Infinite && *p.SensSquared != r.Local {
				t.Errorf("%s: %+v", want, p)
			}
		}
	}
}

// Where a dense strategy is seen through too many messages for the number that holds for no training, what does hold is
// reported, and why the other number is not.
func TestBoundsOfViewsThatAreTooLarge(t *testing.T) {
	const steps = 420
	g, w := gossip(t, "star:13", graph.Uniform)
	one := mat.NewDense(steps, steps, nil)
	for i := range steps {
		one.Set(i, i, 1)
	}
	c, err := strategy.NewDense(one)
	if err != nil {
		t.Fatal(err)
	}
	s := Scenario{w, MFDSGD(c), Attacker{Trust: PNDP, Nodes: []int{0}}, every(t, steps)}
	for _, of := range []Reaction{{}, {Kind: Convex, X: 0.1}, {Kind: FixedInputs}} {
		r, err := Assess(context.Background(), s, AssessOptions{Graph: g, Sigma: 1, Alpha: 2, Reaction: of})
		if of.Kind == FixedInputs {
			if !errors.Is(err, ErrTooLarge) {
				t.Errorf("the number itself: %v", err)
			}
			continue
		}
		if err != nil || !strings.Contains(r.Unknown, "too large") || len(r.Pairs) != 13 {
			t.Fatalf("%v: %v, %+v", of, err, r)
		}
		for _, p := range r.Pairs[1:] {
			if p.WithoutReaction != nil || p.SensSquared == nil || *p.SensSquared > r.Local || *p.SensSquared < 1 {
				t.Errorf("%v: %+v", of, p)
			}
		}
	}
}

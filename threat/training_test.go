package threat

import (
	"errors"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
	"mafalda/strategy"
	"mafalda/workload"
)

// drawTraining draws an optimizer, and networks that change or not.
func drawTraining(t *rapid.T, n, steps int) Training {
	s := workload.Spec{}
	if rapid.Bool().Draw(t, "has momentum") {
		s.Momentum = rapid.Float64Range(0.1, 0.9).Draw(t, "momentum")
		s.Nesterov = rapid.Bool().Draw(t, "nesterov")
	}
	if rapid.Bool().Draw(t, "decays") {
		s.WeightDecay = rapid.Float64Range(0.01, 0.5).Draw(t, "decay")
	}
	rates := make([]float64, steps)
	for i := range rates {
		rates[i] = rapid.SampledFrom([]float64{1, 0.5, 0.1, 0}).Draw(t, "rate")
	}
	rates[0] = 1
	switch rapid.IntRange(0, 3).Draw(t, "rates") {
	case 0:
		s.LearningRates = workload.ListedRates(rates)
	case 1:
		s.LearningRates = schedule(t, "cosine")
	}
	switch rapid.SampledFrom([]string{"", "", "local", "rounds", "tracking"}).Draw(t, "gossip") {
	case "local":
		s.LocalSteps = rapid.IntRange(1, min(3, steps)).Draw(t, "R")
	case "rounds":
		s.GossipRounds = rapid.IntRange(2, 3).Draw(t, "K")
	case "tracking":
		s.GradientTracking = true
	}
	if rapid.IntRange(0, 3).Draw(t, "misses") == 0 {
		s.MissedSteps, s.Carry = 0.3, rapid.Bool().Draw(t, "carry")
	}
	if !s.GradientTracking || s.Momentum == 0 {
		drawChanges(t, n, &s)
	}
	return Training{Spec: s, Seed: rapid.Uint64Range(0, 99).Draw(t, "seed")}
}

func drawChanges(t *rapid.T, n int, s *workload.Spec) {
	switch rapid.SampledFrom([]string{"static", "static", "sequence", "nodes", "links", "neighbours"}).Draw(t, "network") {
	case "sequence":
		var list []*graph.CSR
		for range rapid.IntRange(1, 3).Draw(t, "networks") {
			list = append(list, gossipOf(t, n))
		}
		q, err := workload.NewSequence(list, "")
		if err != nil {
			t.Fatal(err)
		}
		s.GraphSequence = q
	case "nodes":
		s.NodeFailures = 0.3
	case "links":
		s.LinkFailures = 0.3
	case "neighbours":
		if n > 1 {
			s.RandomNeighbours = rapid.IntRange(1, n-1).Draw(t, "s")
		}
	}
}

func schedule(t rapid.TB, text string) workload.Schedule {
	s, err := workload.ParseSchedule(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// gossipOf draws a row-stochastic n×n matrix.
func gossipOf(t *rapid.T, n int) *graph.CSR {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "matrix"), 3))
	w := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			if i == j || rng.IntN(3) == 0 {
				w.Set(i, j, 0.1+rng.Float64())
			}
		}
		row := w.RowView(i).(*mat.VecDense)
		row.ScaleVec(1/mat.Sum(row), row)
	}
	return graph.NewCSRFromDense(w)
}

// drawTrained draws an algorithm with a training.
func drawTrained(t *rapid.T, n, steps int, tr Training) Algorithm {
	var a Algorithm
	switch rapid.SampledFrom([]string{"dp-d-sgd", "antipgd", "mf-d-sgd", "per node"}).Draw(t, "algorithm") {
	case "dp-d-sgd":
		a = DPDSGD()
	case "antipgd":
		a = AntiPGD()
	case "mf-d-sgd":
		a = MFDSGD(drawStrategy(t, steps))
	default:
		first, second := drawStrategy(t, steps), drawStrategy(t, steps)
		each := make([]strategy.Strategy, n)
		for v := range each {
			each[v] = []strategy.Strategy{first, second}[v%2]
		}
		a = MFDSGDPerNode(each)
	}
	a, err := a.Under(tr)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// isBelow reports whether b - a is positive semidefinite, but for rounding.
func isBelow(a, b *mat.SymDense) bool {
	var rest mat.SymDense
	rest.ScaleSym(-1, a)
	rest.AddSym(&rest, b)
	var eigen mat.EigenSym
	return eigen.Factorize(&rest, false) && eigen.Values(nil)[0] > -1e-8*(1+mat.Norm(b, 2))
}

// TestTrainedIsDefinition compares the fast paths with the view that is written out by running workload.State on
// symbols, and its pseudo-inverse: optimizers, networks, strategies, attackers. Where all messages are seen, M is that
// of the noisy gradients, and what the messages say is no more.
func TestTrainedIsDefinition(t *testing.T) {
	clear, unclear := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawGossip(t)
		n, _ := w.Dims()
		steps := rapid.IntRange(1, 6).Draw(t, "T")
		tr := drawTraining(t, n, steps)
		s := Scenario{w, drawTrained(t, n, steps, tr), drawAttacker(t, n), every(t, steps)}
		found, err := account(t, w, s.Algorithm, s.Attacker, steps)
		if errors.Is(err, ErrUnclear) {
			unclear++
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		clear++
		view, err := Explicit(s)
		if err != nil {
			t.Fatal(err)
		}
		for victim, got := range found {
			local, err := s.Algorithm.LocalMatrix(victim, steps)
			if err != nil {
				t.Fatal(err)
			}
			if tr.Spec.MissedSteps > 0 { // a gradient of a step that is missed is 0
				c, err := s.course()
				if err != nil {
					t.Fatal(err)
				}
				for i := range steps {
					for j := range steps {
						if c.misses(i, victim) || c.misses(j, victim) {
							local.SetSym(i, j, 0)
						}
					}
				}
			}
			compareTrained(t, s, view, got, local)
		}
	})
	t.Logf("%d clear, %d unclear", clear, unclear)
	if unclear > clear/4 {
		t.Errorf("%d views are unclear, %d are not", unclear, clear)
	}
}

func compareTrained(t *rapid.T, s Scenario, view *View, got Exposure, local *mat.SymDense) {
	want, err := view.Exposure(got.Victim)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case got.Infinite || want.Infinite:
		t.Fatalf("%v: victim %d is infinite: %v, by definition %v", s.Algorithm.training.Spec, got.Victim, got.Infinite, want.Infinite)
	case !isBelow(want.M, local):
		t.Fatalf("%v: victim %d loses more than under local DP", s.Algorithm.training.Spec, got.Victim)
	case s.Attacker.Trust != PNDP:
		if local, err := s.Algorithm.LocalMatrix(got.Victim, s.steps()); err != nil || !mat.EqualApprox(got.M, local, 1e-9) {
			t.Fatalf("%v: victim %d: M is %v, CᵀC %v (%v)", s.Algorithm.training.Spec, got.Victim, mat.Formatted(got.M), mat.Formatted(local), err)
		}
	case !mat.EqualApprox(got.M, want.M, 1e-8*(1+mat.Norm(want.M, 2))):
		t.Fatalf("%s, %v, %+v: victim %d: M is %v, by definition %v", s.Algorithm.Name(), s.Algorithm.training.Spec, s.Attacker,
			got.Victim, mat.Formatted(got.M), mat.Formatted(want.M))
	}
}

package plan_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/workload"
)

// smallProblem draws a problem of at most eight steps, in which some need not count, and a class.
func smallProblem(t *testing.T, rng *rand.Rand) (plan.Problem, factorize.Class) {
	steps := 2 + rng.IntN(7)
	var p plan.Problem
	p.Workload.Kind = workload.Prefix
	if rng.IntN(3) > 0 {
		source := []string{"path:2", "star:4", "cycle:4", "complete:3"}[rng.IntN(4)]
		p.Network = must(graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: source}))
		p.Workload.Kind = []workload.Kind{workload.Model, workload.Message}[rng.IntN(2)]
	}
	k := 1 + rng.IntN(min(4, steps))
	b := max(1, (steps-1)/k)
	switch rng.IntN(4) {
	case 0:
		p.Schema = must(participation.NewCyclic(steps, k, b))
	case 1:
		p.Schema = must(participation.NewMinSep(steps, k, b))
	case 2:
		p.Schema = must(participation.NewCyclic(steps, 1, steps))
	default:
		first := 1 + rng.IntN(steps-1)
		var patterns [2][]int // they overlap, or are a partition
		for s := range steps {
			if s < first {
				patterns[0] = append(patterns[0], s)
			}
			if s >= max(1, first-rng.IntN(2)) {
				patterns[1] = append(patterns[1], s)
			}
		}
		p.Schema = must(participation.NewPatternList(steps, patterns[:]))
	}
	if rng.IntN(2) == 0 {
		p.Workload.Weights = workload.LastSteps(1 + rng.IntN(steps))
	}
	if rng.IntN(3) == 0 {
		rates := make([]float64, steps)
		for s := range rates {
			rates[s] = []float64{0, 1, 0.5, 1e-9}[rng.IntN(4)]
		}
		rates[rng.IntN(steps)] = 1
		p.Workload.LearningRates = workload.ListedRates(rates)
	}
	p.Workload.Momentum = []float64{0, 0, 0.9, 0.999}[rng.IntN(4)]
	p.Workload.WeightDecay = []float64{0, 0, 0.5}[rng.IntN(3)]
	classes := factorize.Classes()
	return p, classes[min(rng.IntN(2*len(classes)), len(classes)-1)]
}

// Every problem ends with a bound that no loss of its search is below, or is refused by name, also where the noise of
// some steps costs nothing and the Gram matrix is singular.
func TestSmallProblemsEndWithACertificate(t *testing.T) {
	solved := 0
	for seed := range uint64(80) {
		p, class := smallProblem(t, rand.New(rand.NewPCG(seed, 1)))
		s, err := plan.Solve(t.Context(), p, plan.Options{Class: class, NoBaselines: true})
		var refused *fault.Argument
		switch {
		case errors.As(err, &refused) || errors.Is(err, participation.ErrSchema):
			continue
		case err != nil:
			t.Errorf("seed %d, %s: %v", seed, class.Name(), err)
			continue
		}
		solved++
		least := s.Quality.Loss
		if participation.IsPartition(p.Schema) { // the history of others is of a relaxation
			least = leastLoss(s)
		}
		if s.Ending.Status != optim.Converged || !(s.LowerBound > 0) || !(s.LowerBound <= least) {
			t.Errorf("seed %d, %s: %v with a loss of %v, a bound of %v", seed, class.Name(), s.Ending.Status, least, s.LowerBound)
		}
	}
	if solved < 30 {
		t.Errorf("only %d are solved", solved)
	}
}

// leastLoss returns the least loss that a search has seen.
func leastLoss(s *plan.Solution) float64 {
	least := s.Quality.Loss
	for _, point := range s.History {
		least = min(least, point.Loss)
	}
	return least
}

// A Gram matrix that has a Cholesky factor by the grace of rounding alone raises no bound.
func TestBoundOfANearlySingularGram(t *testing.T) {
	p := plan.Problem{Network: must(graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: "path:2"})),
		Schema: must(participation.NewCyclic(4, 1, 4))}
	p.Workload.Kind, p.Workload.Weights = workload.Message, workload.LastSteps(2)
	s := must(plan.Solve(t.Context(), p, plan.Options{NoBaselines: true}))
	if least := leastLoss(s); !(s.LowerBound <= least) {
		t.Errorf("the bound %v is above a loss of %v", s.LowerBound, least)
	}
}

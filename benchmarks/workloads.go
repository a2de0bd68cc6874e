package benchmarks

import (
	"fmt"

	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/workload"
)

// Workload is something that people train: a line of the table.
type Workload struct {
	Name string
	Spec workload.Spec
}

const (
	localSteps     = 8
	suiteMatchings = 16
)

// Workloads returns what is compared on a network: the plain workload first, then optimizers, networks that change, and
// missed steps. Matchings, of which a sequence of networks is made, are drawn by the seed (graph.Matchings). What the
// network has no exact Gram matrix of (workload.Spec.Exact), or no nodes for, is left out, with a sentence about each.
// The error, of Steps, is fewer than 8 of them.
func Workloads(n *graph.Network, steps int, seed uint64) (all []Workload, leftOut []string, err error) {
	if steps < localSteps {
		return nil, nil, fault.New("Steps", steps, "the workloads compared have %d local steps: at least as many are needed",
			localSteps)
	}
	w := n.Gossip.Matrix()
	changes, err := changingWorkloads(n.Graph, seed)
	if err != nil {
		return nil, nil, err
	}
	for _, l := range append(staticWorkloads(steps), changes...) {
		_, err := l.Spec.Networks(w, 0)
		if err == nil {
			err = l.Spec.Exact(w)
		}
		if err != nil {
			leftOut = append(leftOut, fmt.Sprintf("%s is left out: %v", l.Name, err))
			continue
		}
		all = append(all, l)
	}
	return all, leftOut, nil
}

// staticWorkloads returns the workloads over a network that stays as it is.
func staticWorkloads(steps int) []Workload {
	cosine, warmup := schedule("cosine"), schedule("warmup-cosine")
	line := func(name string, o workload.Optimizer) Workload { return Workload{name, workload.Spec{Optimizer: o}} }
	missed := workload.Absence{MissedSteps: 0.1}
	carried := workload.Absence{MissedSteps: 0.1, Carry: true}
	last := steps / 8
	return []Workload{
		line("plain", workload.Optimizer{}),
		line("cosine", workload.Optimizer{LearningRates: cosine}),
		line("warm-up + cosine", workload.Optimizer{LearningRates: warmup}),
		line("momentum 0.9", workload.Optimizer{Momentum: 0.9}),
		line("momentum 0.9, warm-up + cosine", workload.Optimizer{Momentum: 0.9, LearningRates: warmup}),
		line("Nesterov 0.9", workload.Optimizer{Momentum: 0.9, Nesterov: true}),
		line("weight decay 0.01", workload.Optimizer{WeightDecay: 0.01}),
		line(fmt.Sprintf("%d local steps", localSteps), workload.Optimizer{LocalSteps: localSteps}),
		line("2 gossip rounds", workload.Optimizer{GossipRounds: 2}),
		line("gradient tracking", workload.Optimizer{GradientTracking: true}),
		{fmt.Sprintf("mean of the last %d", last), workload.Spec{Weights: workload.LastSteps(last)}},
		{"missed steps 0.1", workload.Spec{Absence: missed}},
		{"missed steps 0.1, carried", workload.Spec{Absence: carried}},
	}
}

// changingWorkloads returns the workloads over networks that change.
func changingWorkloads(g *graph.Graph, seed uint64) ([]Workload, error) {
	var matrices []*graph.CSR
	for _, m := range graph.Matchings(g, suiteMatchings, seed) {
		matrices = append(matrices, graph.PairGossip(g.Nodes(), m))
	}
	pairs, err := workload.NewSequence(matrices, "")
	if err != nil {
		return nil, err
	}
	line := func(name string, c workload.Changes) Workload { return Workload{name, workload.Spec{Changes: c}} }
	return []Workload{
		line(fmt.Sprintf("%d matchings in turn", suiteMatchings), workload.Changes{GraphSequence: pairs}),
		line("nodes fail 0.1", workload.Changes{NodeFailures: 0.1}),
		line("links fail 0.1", workload.Changes{LinkFailures: 0.1}),
		line("2 random neighbours", workload.Changes{RandomNeighbours: 2}),
	}, nil
}

// schedule returns the built-in schedule with this name; it panics for an unknown one.
func schedule(name string) workload.Schedule {
	s, err := workload.ParseSchedule(name)
	if err != nil {
		panic(err)
	}
	return s
}

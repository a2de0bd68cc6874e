package partpsp

import (
	"context"
	"errors"
	"math/rand/v2"

	"mafalda/internal/fault"
	"mafalda/internal/lists"
	"mafalda/internal/parallel"
	"mafalda/protocols/dpps"
)

// Training says what is trained, and how. All fields must be set.
type Training struct {
	Task     Task
	Sequence *dpps.Sequence
	Shared   int // layers, from the first; 1 is the paper's PartPSP-1, all of them SGPDP

	Epochs     int     `in:"[1,)"` // passes of every node over its share of the records
	Batch      int     `in:"[1,)"` // records of a node in a round
	LocalRate  float64 `in:"(0,)"` // γ_l
	SharedRate float64 `in:"(0,)"` // γ_s
	Clip       float64 `in:"(0,)"` // 𝔠, of the sum of magnitudes of the shared gradient
	PushSum    dpps.Options
}

// Result is what came of training.
type Result struct {
	Accuracy float64       // mean share of right answers, of the averaged shared layers with every node's own
	Rounds   []dpps.Report // rounds of the protocol
	Clipped  float64       // share of the shared gradients that were clipped
	Diverged bool          // parameters left the range of numbers, which ended training; they answer nothing rightly
}

// MeanReal returns the mean of the real sensitivities, the paper's RAS.
func (r *Result) MeanReal() float64 {
	var sum float64
	for _, round := range r.Rounds {
		sum += round.Real
	}
	return sum / float64(len(r.Rounds))
}

func (t Training) check() error {
	if err := fault.Ranges(t); err != nil {
		return err
	}
	n := t.Sequence.Nodes()
	switch {
	case t.Shared < 1 || t.Shared > t.Task.Layers():
		return fault.New("Shared", t.Shared, "must be from 1 to the %d layers", t.Task.Layers())
	case t.Task.Records()/n < t.Batch:
		return fault.New("Batch", t.Batch, "%d training records are fewer than a batch for each of %d nodes",
			t.Task.Records(), n)
	case t.Task.Tests() < 1:
		return fault.New("Task.Tests", t.Task.Tests(), "must be positive")
	}
	return nil
}

// RoundsPerEpoch returns how many batches a node has.
func (t Training) RoundsPerEpoch() int { return t.Task.Records() / t.Sequence.Nodes() / t.Batch }

// run is training under way.
type run struct {
	Training
	parameters int // shared ones
	nodes      []*node
	steps      [][]float64 // ε of the nodes
	push       *dpps.PushSum
	result     *Result
}

// Run trains once. The same seed gives the same data to the nodes and the same start and noise, whatever is shared.
// The errors are a configuration that makes no sense (*fault.Argument), a round whose sensitivity is underestimated
// (dpps.ErrSensitivity; the result has the rounds before), and the context's.
func (t Training) Run(ctx context.Context, seed uint64) (*Result, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	r, err := t.start(seed)
	if err != nil {
		return nil, err
	}
	for round := range t.Epochs * t.RoundsPerEpoch() {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		err := r.round(round)
		if errors.Is(err, dpps.ErrDiverged) {
			r.result.Diverged = true
			break
		}
		if err != nil {
			return r.result, err
		}
	}
	r.finish()
	return r.result, nil
}

// start deals the records, and gives all nodes the same parameters.
func (t Training) start(seed uint64) (*run, error) {
	stream := func(purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x7061727470737000+purpose)) }
	n, size := t.Sequence.Nodes(), t.Task.Prefix(t.Task.Layers())
	r := &run{Training: t, parameters: t.Task.Prefix(t.Shared), result: &Result{}}
	start := make([]float32, size)
	t.Task.Init(start, stream(0))
	shared := lists.Make(r.parameters, func(c int) float64 { return float64(start[c]) })
	deal := stream(1).Perm(t.Task.Records())
	values := make([][]float64, n)
	for i := range n {
		values[i] = shared
		r.steps = append(r.steps, make([]float64, r.parameters))
		r.nodes = append(r.nodes, &node{records: deal[i*len(deal)/n : (i+1)*len(deal)/n], random: stream(2 + uint64(i)),
			theta: append([]float32(nil), start...), gradient: make([]float32, size), learner: t.Task.NewLearner()})
	}
	var err error
	r.push, err = dpps.NewPushSum(t.Sequence, values, t.PushSum, stream(1<<32))
	return r, err
}

// round lets all nodes take a step.
func (r *run) round(round int) error {
	parallel.For(len(r.nodes), func(i int) {
		r.nodes[i].take(round%r.RoundsPerEpoch(), r.Batch)
		r.nodes[i].descend(r.Training, r.steps[i])
	})
	report, err := r.push.Round(r.steps)
	if err != nil {
		return err
	}
	r.result.Rounds = append(r.result.Rounds, report)
	for i, node := range r.nodes {
		for c, v := range r.push.Corrected(i) {
			node.theta[c] = float32(v)
		}
	}
	return nil
}

// finish averages the shared layers and tests them with every node's own.
func (r *run) finish() {
	average := make([]float64, r.parameters)
	for i := range r.nodes {
		for c, v := range r.push.Shared(i) {
			average[c] += v / float64(len(r.nodes))
		}
	}
	correct := make([]int, len(r.nodes))
	parallel.For(len(r.nodes), func(i int) {
		node := r.nodes[i]
		for c, v := range average {
			node.theta[c] = float32(v)
		}
		correct[i] = node.learner.Correct(node.theta)
	})
	clipped := 0
	for i, node := range r.nodes {
		r.result.Accuracy += float64(correct[i]) / float64(r.Task.Tests()*len(r.nodes))
		clipped += node.clipped
	}
	r.result.Clipped = float64(clipped) / float64(len(r.nodes)*max(len(r.result.Rounds), 1))
}

package simulate

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"mafalda/internal/parallel"
	"mafalda/participation"
	"mafalda/workload"
)

// trainer is what a run consists of.
type trainer struct {
	Config
	noise          *Noise
	nodes, size    int // n, d
	records        int // records of all nodes
	batches        batches
	test, part     Dataset // all of the test data, and the rows that losses are measured on
	validationData Dataset // data whose losses rates are chosen by
	ledger         *participation.Ledger

	state      *workload.State[float32]
	networks   *workload.Networks
	missed     []bool    // n×T; nil: no step is
	noises     []float32 // n×T×d, rows that are not sent left out or carried over; nil without noise
	alone      *alone    // nil without noise
	gradients  []float32 // n×d
	workers    []*Worker
	clipped    []int // number of clipped gradients, by node
	errs       []error
	losses     []float64
	validation float64
	result     *Result
}

func newTrainer(c Config, noise *Noise, seed uint64) (*trainer, error) {
	nodes, _ := c.Gossip.Dims()
	t := &trainer{Config: c, noise: noise, nodes: nodes, size: c.Task.Model.Size(), result: &Result{}}
	if noise != nil {
		if err := noise.check(nodes, c); err != nil {
			return nil, err
		}
	}
	train, test := c.Task.Split(seed)
	if c.Validation {
		half := test.Len() / 2
		t.validationData, test = c.first(test.Slice(0, half)), test.Slice(half, test.Len())
	}
	if err := t.checkData(train, test); err != nil {
		return nil, err
	}
	var err error
	if t.batches, err = newBatches(c, train, nodes, seed); err != nil {
		return nil, err
	}
	t.test, t.part = test, c.first(test)
	t.records = train.Len()
	t.ledger = participation.NewLedger(t.records, t.schema())
	if err := t.begin(seed); err != nil {
		return nil, err
	}
	t.Workers = min(t.Workers, nodes)
	t.gradients = make([]float32, nodes*t.size)
	for range t.Workers {
		t.workers = append(t.workers, t.Task.Model.NewWorker())
	}
	t.clipped, t.errs, t.losses = make([]int, nodes), make([]error, nodes), make([]float64, nodes)
	return t, nil
}

// first returns the first TestRows records, or all.
func (c Config) first(test Dataset) Dataset {
	if c.TestRows > 0 {
		return test.Slice(0, min(c.TestRows, test.Len()))
	}
	return test
}

// stopAt ends rounds of gossip when done is closed.
func (t *trainer) stopAt(done <-chan struct{}) {
	t.state.StopAt(done)
	if t.alone != nil {
		t.alone.state.StopAt(done)
	}
}

// begin makes the state before the first step, and draws networks and absences.
func (t *trainer) begin(seed uint64) error {
	steps := t.Schema.Steps()
	var err error
	if t.networks, err = t.Workload.Networks(t.Gossip, seed); err != nil {
		return err
	}
	if t.state, err = workload.NewState[float32](t.Workload, steps, t.nodes, t.size, t.LearningRate); err != nil {
		return err
	}
	t.Task.Model.Init(t.state.Model(0), random(seed, forStart, 0))
	for u := range t.nodes {
		copy(t.state.Model(u), t.state.Model(0))
	}
	if p := t.Workload.MissedSteps; p > 0 {
		t.missed = make([]bool, t.nodes*steps)
		for u := range t.nodes {
			r := random(seed, forAbsence, uint64(u))
			for step := range steps {
				t.missed[u*steps+step] = r.Float64() < p
			}
		}
	}
	return nil
}

// misses reports whether a node has no gradient in a step, and sends no noise.
func (t *trainer) misses(u, step int) bool {
	return t.missed != nil && t.missed[u*t.Schema.Steps()+step]
}

// schema returns what records must keep to: what privacy rests on.
func (t *trainer) schema() participation.Schema {
	drawn, ok := t.batches.(*draws)
	switch {
	case t.noise != nil && t.noise.Multiplier == 0:
		return t.noise.Correlation.schema
	case ok: // rounds in which a record may be drawn are what was accounted for
		return drawn.samplers[0].Schema()
	}
	return t.Schema
}

// checkData rejects data that the model is not for.
func (t *trainer) checkData(train, test Dataset) error {
	parts := []Dataset{train, test}
	if t.Validation {
		parts = append(parts, t.validationData)
	}
	for i, data := range parts {
		if err := t.Task.Model.Check(data); err != nil {
			return fmt.Errorf("%s data: %w", []string{"training", "test", "validation"}[i], err)
		}
	}
	return nil
}

// drawNoise makes the noise of all nodes and steps, as it is sent.
func (t *trainer) drawNoise(ctx context.Context, seed uint64) error {
	if t.noise == nil {
		return nil
	}
	stds := make([]float64, t.nodes)
	for u := range stds {
		var err error
		if stds[u], err = t.noise.std(u, t.batches.divisor(u), t.Clip); err != nil {
			return err
		}
	}
	t.result.Deviation = floats.Norm(stds, 2) / math.Sqrt(float64(t.nodes))
	length := t.Schema.Steps() * t.size
	t.noises = make([]float32, t.nodes*length)
	parallel.Workers(t.Workers, t.nodes, func(_, u int) {
		if ctx.Err() != nil {
			return
		}
		rows := t.noises[u*length : (u+1)*length]
		t.noise.Correlation.noiseTo(rows, u, stds[u], seed)
		t.send(u, rows)
	})
	if err := context.Cause(ctx); err != nil {
		return err
	}
	var err error
	t.alone, err = newAlone(t, stds)
	return err
}

// send makes of the rows of a node's noise (T×d) those that it sends: rows of missed steps go with the next message, or
// are lost. What is carried to the end is lost, too.
func (t *trainer) send(u int, rows []float32) {
	if t.missed == nil {
		return
	}
	steps := t.Schema.Steps()
	for step := range steps {
		if !t.misses(u, step) {
			continue
		}
		row := rows[step*t.size : (step+1)*t.size]
		if t.Workload.Carry && step+1 < steps {
			blas32.Axpy(1, vector(row), vector(rows[(step+1)*t.size:(step+2)*t.size]))
		}
		clear(row)
	}
}

// row returns the noise that a node sends in a step.
func (t *trainer) row(u, step int) []float32 {
	at := (u*t.Schema.Steps() + step) * t.size
	return t.noises[at : at+t.size]
}

// descend takes the gradient step of all nodes. The batch of a missed step is skipped: the next step has the batch that
// it would have had.
func (t *trainer) descend(step int) error {
	parallel.Workers(t.Workers, t.nodes, func(worker, u int) {
		gradient := t.gradients[u*t.size : (u+1)*t.size]
		if t.misses(u, step) {
			clear(gradient)
			return
		}
		batch, divisor, err := t.batches.take(t.ledger, u, step)
		if err != nil {
			t.errs[u] = err
			return
		}
		t.clipped[u] += t.workers[worker].ClippedSumTo(gradient, t.state.Model(u), batch, t.noise.clip(u, t.Clip))
		blas32.Scal(float32(1/divisor), vector(gradient))
		if t.noises != nil {
			blas32.Axpy(1, vector(t.row(u, step)), vector(gradient))
		}
	})
	for u, err := range t.errs {
		if err != nil {
			return fmt.Errorf("node %d: %w", u, err)
		}
	}
	t.state.Descend(t.gradients, t.networks)
	return nil
}

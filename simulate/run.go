package simulate

import (
	"context"
	"fmt"
	"mafalda/participation"
	"math"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
)

// Result is a run. Losses, and the accuracy, are means over the nodes of those of their models on test data.
type Result struct {
	Steps    []int     // after how many steps there is a loss
	Losses   []float64 // on the first TestRows rows
	Mean     float64   // of the losses of the last Window steps
	Final    float64   // the last loss
	Full     float64   // the final loss on all test rows
	Accuracy *float64  // the final share of right answers on all test rows; nil where targets are no classes, and if it diverged
	Clipped  float64   // share of the gradients that were clipped
	Diverged int       // the first step whose loss is not finite, where the run ended: Mean, Final and Full are NaN; 0 if none
	Seconds  float64

	Groups     int     // w of participation.PoissonSampling, b of BinsSampling
	Multiplier float64 // of the noise, where they are drawn in secret
}

// Run trains once. A nil noise trains without. The errors are a configuration that makes no sense (ErrData), records that
// would take part in more than the schema of the run or of the noise allows (participation.ErrViolated), and the
// context's. A run that diverges is no error: see Result.Diverged.
func Run(ctx context.Context, c Config, noise *Noise, seed uint64) (*Result, error) {
	started := time.Now()
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	t, err := newTrainer(c, noise, seed)
	if err != nil {
		return nil, err
	}
	if err := t.drawNoise(ctx, seed); err != nil {
		return nil, err
	}
	steps := c.Schema.Steps()
	for step := range steps {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if err := t.descend(step); err != nil {
			return nil, err
		}
		if err := t.gossip(ctx); err != nil {
			return nil, err
		}
		if done := step + 1; done > steps-Window || done%c.Every == 0 {
			if !t.measure(done) {
				break
			}
		}
	}
	t.finish()
	t.result.Seconds = time.Since(started).Seconds()
	return t.result, nil
}

// trainer is the state of a run.
type trainer struct {
	Config
	noise       *Noise
	nodes, size int // n, d
	records     int // of all nodes
	batches     batches
	test, part  Dataset // all of the test data, and what losses are of
	ledger      *participation.Ledger

	models, other []float32 // n×d each
	noises        []float32 // n×T×d, or nil
	gradients     []float32 // a row of d a worker
	workers       []Worker
	clipped       []int // by node
	errs          []error
	losses        []float64
	result        *Result
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
	if err := t.checkData(train, test); err != nil {
		return nil, err
	}
	var err error
	if t.batches, err = newBatches(c, train, nodes, seed); err != nil {
		return nil, err
	}
	t.test, t.part = test, test
	if c.TestRows > 0 {
		t.part = test.Slice(0, min(c.TestRows, test.Len()))
	}
	t.records = train.Len()
	t.ledger = participation.NewLedger(t.records, t.schema())
	t.models, t.other = make([]float32, nodes*t.size), make([]float32, nodes*t.size)
	t.Task.Model.Init(t.model(0), random(seed, forStart, 0))
	for u := range nodes {
		copy(t.model(u), t.model(0))
	}
	t.Workers = min(t.Workers, nodes)
	t.gradients = make([]float32, t.Workers*t.size)
	for range t.Workers {
		t.workers = append(t.workers, t.Task.Model.NewWorker())
	}
	t.clipped, t.errs, t.losses = make([]int, nodes), make([]error, nodes), make([]float64, nodes)
	return t, nil
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

func (t *trainer) checkData(train, test Dataset) error {
	for name, data := range map[string]Dataset{"training": train, "test": test} {
		if data.Features != t.Task.Model.Features() || len(data.Inputs) != data.Len()*data.Features || data.Len() == 0 {
			return fmt.Errorf("%w: %s data of %d rows with %d features for a model of %d", ErrData, name, data.Len(), data.Features, t.Task.Model.Features())
		}
		if err := t.Task.Model.Check(data); err != nil {
			return fmt.Errorf("%w: %s data: %w", ErrData, name, err)
		}
	}
	return nil
}

func (t *trainer) model(u int) []float32 { return t.models[u*t.size : (u+1)*t.size] }

// drawNoise makes the noise of all nodes and steps.
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
	length := t.Schema.Steps() * t.size
	t.noises = make([]float32, t.nodes*length)
	parallel(t.Workers, t.nodes, func(_, u int) {
		if ctx.Err() == nil {
			t.noise.Correlation.noiseTo(t.noises[u*length:(u+1)*length], u, stds[u], random(seed, forNoise, uint64(u)))
		}
	})
	return context.Cause(ctx)
}

// descend takes the gradient step of all nodes.
func (t *trainer) descend(step int) error {
	parallel(t.Workers, t.nodes, func(worker, u int) {
		batch, divisor, err := t.batches.take(t.ledger, u, step)
		if err != nil {
			t.errs[u] = err
			return
		}
		gradient := t.gradients[worker*t.size : (worker+1)*t.size]
		t.clipped[u] += t.workers[worker].ClippedSumTo(gradient, t.model(u), batch, t.Clip)
		blas32.Axpy(-float32(t.LearningRate/divisor), vector(gradient), vector(t.model(u)))
		if t.noises != nil {
			at := (u*t.Schema.Steps() + step) * t.size
			blas32.Axpy(-float32(t.LearningRate), vector(t.noises[at:at+t.size]), vector(t.model(u)))
		}
	})
	for u, err := range t.errs {
		if err != nil {
			return fmt.Errorf("node %d: %w", u, err)
		}
	}
	return nil
}

// gossip replaces the models by W^K times them.
func (t *trainer) gossip(ctx context.Context) error {
	for range t.Rounds {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		parallel(t.Workers, t.nodes, func(_, u int) {
			average := t.other[u*t.size : (u+1)*t.size]
			clear(average)
			t.Gossip.DoRowNonZero(u, func(_, v int, weight float64) {
				blas32.Axpy(float32(weight), vector(t.model(v)), vector(average))
			})
		})
		t.models, t.other = t.other, t.models
	}
	return nil
}

// loss returns the mean over the nodes of their models' losses.
func (t *trainer) loss(data Dataset) float64 {
	parallel(t.Workers, t.nodes, func(worker, u int) { t.losses[u] = t.workers[worker].Loss(t.model(u), data) })
	var sum float64
	for _, v := range t.losses {
		sum += v
	}
	return sum / float64(t.nodes)
}

// measure adds a loss to the result; false if it is not finite.
func (t *trainer) measure(done int) bool {
	loss := t.loss(t.part)
	if loss-loss != 0 {
		t.result.Diverged = done
		return false
	}
	t.result.Steps, t.result.Losses = append(t.result.Steps, done), append(t.result.Losses, loss)
	return true
}

// finish fills in what is known at the end.
func (t *trainer) finish() {
	r := t.result
	switch s := t.Sampling.(type) {
	case participation.PoissonSampling:
		r.Groups = s.Groups
	case participation.BinsSampling:
		r.Groups = s.Bins
	}
	if t.noise != nil {
		r.Multiplier = t.noise.Multiplier
	}
	clipped, visits := 0, 0
	for u := range t.nodes {
		clipped += t.clipped[u]
	}
	for record := range t.records {
		visits += len(t.ledger.Steps(record))
	}
	r.Clipped = float64(clipped) / float64(max(visits, 1))
	if r.Diverged > 0 {
		r.Mean, r.Final, r.Full = math.NaN(), math.NaN(), math.NaN()
		return
	}
	last := r.Losses[max(len(r.Losses)-Window, 0):]
	var sum float64
	for _, v := range last {
		sum += v
	}
	r.Mean, r.Final = sum/float64(len(last)), last[len(last)-1]
	if r.Full = t.loss(t.test); r.Full-r.Full != 0 {
		r.Diverged, r.Mean, r.Final, r.Full = t.Schema.Steps(), math.NaN(), math.NaN(), math.NaN()
		return
	}
	r.Accuracy = t.accuracy()
}

// accuracy returns the mean over the nodes of their models' shares of right answers on the test data; nil for regression.
func (t *trainer) accuracy() *float64 {
	if _, ok := t.workers[0].(Classifier); !ok {
		return nil
	}
	right := make([]int, t.nodes)
	parallel(t.Workers, t.nodes, func(worker, u int) {
		right[u] = t.workers[worker].(Classifier).Correct(t.model(u), t.test)
	})
	sum := 0
	for _, v := range right {
		sum += v
	}
	share := float64(sum) / float64(t.nodes*t.test.Len())
	return &share
}

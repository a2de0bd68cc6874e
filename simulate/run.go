package simulate

import (
	"context"
	"time"

	"mafalda/internal/parallel"
)

// Result is a run, as plain data. Losses and the accuracy are means over the nodes' models, on test data. Numbers that
// a diverged run does not have are nil.
type Result struct {
	Steps    []int     `json:"steps"`                     // numbers of steps after which losses are measured
	Losses   []float64 `json:"losses"`                    // losses on the first TestRows rows
	Mean     *float64  `json:"mean_last50,omitempty"`     // mean of the losses of the last Window steps, or of those of them that count
	Final    *float64  `json:"final,omitempty"`           // the last loss
	Full     *float64  `json:"final_full_test,omitempty"` // the final loss on all test rows
	Accuracy *float64  `json:"accuracy,omitempty"`        // final share of right answers; nil for regressions
	Clipped  float64   `json:"clipped_fraction"`          // share of the gradients that were clipped
	Diverged int       `json:"diverged_at,omitempty"`     // the first step whose loss is not finite, the last one; or 0
	Seconds  float64   `json:"seconds"`

	// Validation is Mean on the records that Config.Validation keeps apart.
	Validation *float64 `json:"validation,omitempty"`

	// Groups is w that batches are drawn from, or b of participation.BinsSampling.
	Groups     int     `json:"groups,omitempty"`
	Multiplier float64 `json:"noise_multiplier,omitempty"` // noise over the clip, where batches are drawn in secret

	// NoiseError is measured: what the noise alone does to the models (see the package comment); nil without noise.
	// Predicted is what the Gram matrix says of that, in expectation; Study.Do fills it in.
	NoiseError *float64 `json:"noise_error,omitempty"`
	Predicted  *float64 `json:"predicted_noise_error,omitempty"`

	// Deviation is the standard deviation of Z for means of gradients, the root of the mean square over the nodes.
	// PredictedExcess is how far that lifts Mean above training without noise, in expectation, where the loss is quadratic;
	// Study.Do fills it in.
	Deviation       float64  `json:"noise_deviation,omitempty"`
	PredictedExcess *float64 `json:"predicted_excess,omitempty"`
}

// Run trains once. A nil noise trains without noise. It fails for an invalid configuration (ErrData, or its workload's
// error), if records would take part more often than the schema of the run or of the noise allows
// (participation.ErrViolated), and when the context ends. A run that diverges is no error: see Result.Diverged.
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
	t.stopAt(ctx.Done())
	steps := c.Schema.Steps()
	for step := range steps {
		if err := t.descend(step); err != nil {
			return nil, err
		}
		t.state.Gossip(t.networks)
		t.alone.step(t.networks)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
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

// mean returns the mean over the nodes of a number of their models.
func (t *trainer) mean(of func(w *Worker, model []float32) float64) (sum float64) {
	parallel.Workers(t.Workers, t.nodes, func(worker, u int) { t.losses[u] = of(t.workers[worker], t.state.Model(u)) })
	for _, v := range t.losses {
		sum += v
	}
	return sum / float64(t.nodes)
}

// loss returns the mean over the nodes of their models' losses.
func (t *trainer) loss(data Dataset) float64 {
	return t.mean(func(w *Worker, model []float32) float64 { return w.Loss(model, data) })
}

// measure adds a loss to the result; false if it is not finite.
func (t *trainer) measure(done int) bool {
	loss := t.loss(t.part)
	if t.Validation && done > t.Schema.Steps()-t.Window() {
		t.validation += t.loss(t.validationData) / float64(t.Window())
	}
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
	r.Groups = groupsOf(t.Sampling)
	if t.noise != nil {
		r.Multiplier = t.noise.Multiplier
		r.NoiseError = t.alone.result()
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
		return
	}
	last := r.Losses[len(r.Losses)-t.Window():]
	var sum float64
	for _, v := range last {
		sum += v
	}
	full := t.loss(t.test)
	if full-full != 0 {
		r.Diverged = t.Schema.Steps()
		return
	}
	if t.Validation {
		r.Validation = finite(t.validation)
	}
	r.Mean, r.Final, r.Full, r.Accuracy = new(sum/float64(len(last))), &last[len(last)-1], &full, t.accuracy()
}

// accuracy returns the mean over the nodes of their models' shares of right answers on the test data; nil for
// regression.
func (t *trainer) accuracy() *float64 {
	if t.Task.Model.squared {
		return nil
	}
	right := t.mean(func(w *Worker, model []float32) float64 { return float64(w.Correct(model, t.test)) })
	return new(right / float64(t.test.Len()))
}

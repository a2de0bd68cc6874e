package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"mafalda/internal/lists"
	"mafalda/protocols/dpps"
	"mafalda/protocols/partpsp"
)

// PartPSPTask is data and a perceptron for package partpsp, which tells its records by their numbers.
type PartPSPTask struct {
	*Perceptron
	Train, Test Dataset
}

var _ partpsp.Task = PartPSPTask{}

// Records returns how many there are to train on.
func (t PartPSPTask) Records() int { return t.Train.Len() }

// Tests returns how many there are to test with.
func (t PartPSPTask) Tests() int { return t.Test.Len() }

// NewLearner returns scratch for one goroutine.
func (t PartPSPTask) NewLearner() partpsp.Learner {
	return &partPSPLearner{Worker: t.NewWorker(), task: t}
}

// partPSPLearner computes gradients of batches.
type partPSPLearner struct {
	*Worker
	task  PartPSPTask
	batch Dataset
}

func (l *partPSPLearner) Take(records []int) { l.batch = l.task.Train.Pick(records) }

func (l *partPSPLearner) GradientTo(dst, theta []float32) {
	l.ClippedSumTo(dst, theta, l.batch, math.Inf(1))
}

func (l *partPSPLearner) Correct(theta []float32) int { return l.Worker.Correct(theta, l.task.Test) }

// PartPSPNetwork is a directed network, and what its estimate takes.
type PartPSPNetwork struct {
	Name        string
	Sequence    *dpps.Sequence
	Calibration dpps.Calibration
}

// PartPSP is a table of trainings as in Zhou et al., Table II: how many layers are shared, and the noise, on some
// networks.
type PartPSP struct {
	Options  PartPSPOptions
	Task     Task
	Model    *Perceptron
	Networks []PartPSPNetwork
	Progress func(fraction float64) // called after every run, if not nil
}

// PartPSPCell is a cell of the table.
type PartPSPCell struct {
	Network  string   `json:"network"`
	Shared   int      `json:"shared_layers"`
	B        *float64 `json:"b,omitempty"` // absent: without noise
	Epsilon  *float64 `json:"epsilon_per_round,omitempty"`
	Accuracy float64  `json:"accuracy"` // mean of the seeds
	Std      *float64 `json:"accuracy_std,omitempty"`
	RAS      float64  `json:"mean_real_sensitivity"`
	Ratio    *float64 `json:"mean_real_over_estimated,omitempty"`
	Rounds   int      `json:"rounds"`
	Clipped  float64  `json:"clipped_fraction"`
	Diverged int      `json:"diverged,omitempty"` // runs
}

// MethodOf names how many of the layers are shared as the paper does.
func (p *PartPSP) MethodOf(shared int) string {
	if shared == p.Model.Layers() {
		return "SGPDP"
	}
	return fmt.Sprintf("PartPSP-%d", shared)
}

// training returns the training of a cell; b = 0 is without noise. Its errors wrap ErrData.
func (p *PartPSP) training(n PartPSPNetwork, shared int, b float64, seed uint64) (partpsp.Training, error) {
	task := PartPSPTask{Perceptron: p.Model}
	task.Train, task.Test = p.Task.Split(seed)
	o := &p.Options
	if records, nodes := task.Records(), n.Sequence.Nodes(); records/nodes < o.Batch {
		return partpsp.Training{}, fmt.Errorf("%w: %d training records are fewer than a batch of %d for each of %d nodes",
			ErrData, records, o.Batch, nodes)
	}
	if err := cmp.Or(task.Check(task.Train), task.Check(task.Test)); err != nil {
		return partpsp.Training{}, err
	}
	push := dpps.Options{Plan: o.Plan, Calibration: n.Calibration, NoNoise: b == 0}
	if push.B = b; push.NoNoise {
		push.Source = dpps.Omniscient
	}
	return partpsp.Training{Task: task, Sequence: n.Sequence, Shared: shared, Epochs: o.Epochs, Batch: o.Batch,
		LocalRate: o.LearningRate, SharedRate: o.LearningRate, Clip: o.Clip, PushSum: push}, nil
}

// Train fills the table: by shared layers, then noise (none at last), then network. The errors are data that do not fit
// (ErrData), a sensitivity that was underestimated (dpps.ErrSensitivity), and the context's.
func (p *PartPSP) Train(ctx context.Context) (cells []PartPSPCell, err error) {
	o, levels, done := &p.Options, append(slices.Clone(p.Options.Bs), 0), 0
	for _, shared := range o.Shared {
		for _, b := range levels {
			for _, n := range p.Networks {
				results := make([]*partpsp.Result, o.Seeds)
				for seed := range results {
					t, err := p.training(n, shared, b, uint64(seed))
					if err == nil {
						results[seed], err = t.Run(ctx, uint64(seed))
					}
					if err != nil {
						return nil, fmt.Errorf("%s, %s, b = %g: %w", p.MethodOf(shared), n.Name, b, err)
					}
					if done++; p.Progress != nil {
						p.Progress(float64(done) / float64(len(p.Networks)*len(o.Shared)*len(levels)*o.Seeds))
					}
				}
				cells = append(cells, p.cell(n.Name, shared, b, results))
			}
		}
	}
	return cells, nil
}

// cell sums runs up.
func (p *PartPSP) cell(network string, shared int, b float64, runs []*partpsp.Result) PartPSPCell {
	mean := func(of func(r *partpsp.Result) float64) float64 { return stat.Mean(lists.Map(runs, of), nil) }
	c := PartPSPCell{Network: network, Shared: shared, RAS: mean((*partpsp.Result).MeanReal),
		Clipped: mean(func(r *partpsp.Result) float64 { return r.Clipped })}
	accuracy, std := stat.MeanStdDev(lists.Map(runs, func(r *partpsp.Result) float64 { return r.Accuracy }), nil)
	c.Accuracy, c.Std = accuracy, finite(std)
	var ratios []float64
	for _, r := range runs {
		c.Rounds = max(c.Rounds, len(r.Rounds))
		if r.Diverged {
			c.Diverged++
		}
		for _, round := range r.Rounds {
			if round.Estimated > 0 {
				ratios = append(ratios, round.Real/round.Estimated)
			}
		}
	}
	if plan := p.Options.Plan; b > 0 {
		plan.B = b
		c.B, c.Epsilon = &b, new(plan.Epsilon())
		if plan.Source != dpps.Omniscient {
			c.Ratio = finite(stat.Mean(ratios, nil))
		}
	}
	return c
}

// Sensitivities trains with the first seed under noise of this b and returns the given number of rounds, or the rounds
// up to the first whose sensitivity was underestimated. It fails as Train does.
func (p *PartPSP) Sensitivities(ctx context.Context, n PartPSPNetwork, shared int, b float64,
	rounds int) ([]dpps.Report, error) {
	t, err := p.training(n, shared, b, 0)
	if err != nil {
		return nil, err
	}
	perEpoch := max(t.RoundsPerEpoch(), 1)
	t.Epochs = min(t.Epochs, (rounds+perEpoch-1)/perEpoch)
	r, err := t.Run(ctx, 0)
	if err != nil && !errors.Is(err, dpps.ErrSensitivity) {
		return nil, err
	}
	return r.Rounds[:min(rounds, len(r.Rounds))], nil
}

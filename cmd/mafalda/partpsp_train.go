package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"mafalda/internal/cli"
	"mafalda/protocols"
	"mafalda/simulate"
)

// configure returns the training of a cell; b = 0 is without noise.
func (t *partTraining) configure(n partNetwork, shared int, b float64, seed uint64) protocols.PartPSP {
	f := t.flags
	train, test := t.task.Split(seed)
	p := protocols.PartPSP{Model: t.model, Train: train, Test: test, Sequence: n.sequence, Shared: shared, Epochs: f.epochs, Batch: f.batch, LocalRate: f.rate,
		SharedRate: f.rate, Clip: f.clip}
	push := f.push
	push.b = b
	p.PushSum = push.options(n.calibration)
	if b == 0 {
		p.PushSum = protocols.PushSumOptions{NoNoise: true, Estimate: protocols.Real, Sync: f.push.sync}
	}
	return p
}

// train fills the table.
func (t *partTraining) train(ctx context.Context, bar *cli.Progress) error {
	f := t.flags
	levels := append(append([]float64(nil), f.bs...), 0)
	total, done := len(t.networks)*len(f.shared)*len(levels)*f.seeds, 0
	for _, shared := range f.shared {
		for _, b := range levels {
			for _, n := range t.networks {
				var runs []*protocols.TrainResult
				for seed := range f.seeds {
					r, err := t.configure(n, shared, b, uint64(seed)).Run(ctx, uint64(seed))
					if errors.Is(err, simulate.ErrData) {
						return cli.Usage(err)
					}
					if err != nil {
						return fmt.Errorf("%s, %s, b = %g: %w", methodOf(shared), n.name, b, err)
					}
					runs = append(runs, r)
					done++
					bar.Show(float64(done)/float64(total), "runs")
				}
				t.result.Cells = append(t.result.Cells, t.cell(n.name, shared, b, runs))
			}
		}
	}
	return nil
}

func (t *partTraining) cell(network string, shared int, b float64, runs []*protocols.TrainResult) partCell {
	c := partCell{Network: network, Shared: shared}
	if b > 0 {
		epsilon := protocols.PushSumOptions{B: b, NoiseRate: t.flags.push.gammaN}.Epsilon()
		c.B, c.Epsilon = &b, &epsilon
	}
	n := float64(len(runs))
	var ratio, squares float64
	counted := 0
	for _, r := range runs {
		c.Accuracy += r.Accuracy / n
		c.RAS += r.MeanReal() / n
		c.Clipped += r.Clipped / n
		c.Rounds = max(c.Rounds, len(r.Rounds))
		if r.Diverged {
			c.Diverged++
		}
		for _, round := range r.Rounds {
			if round.Estimated > 0 {
				ratio += round.Real / round.Estimated
				counted++
			}
		}
	}
	for _, r := range runs {
		squares += (r.Accuracy - c.Accuracy) * (r.Accuracy - c.Accuracy)
	}
	if n > 1 {
		std := math.Sqrt(squares / (n - 1))
		c.Std = &std
	}
	if b > 0 && t.flags.push.estimate != "real" && counted > 0 {
		ratio /= float64(counted)
		c.Ratio = &ratio
	}
	return c
}

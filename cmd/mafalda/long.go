package main

import (
	"context"
	"fmt"

	"mafalda/benchmarks"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/internal/cli"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/strategy"
)

// Runs of more steps than matrices of T×T have room for: Toeplitz strategies, whose error follows from how the network
// responds to a single step's noise. There is no dense optimum to compare with, and no lower bound.

// isLong reports whether the run is one of those.
func (j *job) isLong() bool {
	return j.schema.Steps() > factorize.LongSteps && j.class.Traits().Has(factorize.ManySteps)
}

// checkLong finds what long runs do not have.
func (f *optimizeFlags) checkLong(j *job) error {
	_, cyclic := j.schema.(participation.Cyclic)
	switch {
	case j.schema.Steps() > export.MaxSteps:
		return cli.Usagef("--T %d: at most %d", j.schema.Steps(), export.MaxSteps)
	case !cyclic:
		return cli.Usagef("more than %d steps: only --schema cyclic and single", factorize.LongSteps)
	case j.objective != plan.Mean || f.split.wanted():
		return cli.Usagef("more than %d steps: only --objective mean, and one strategy for all nodes", factorize.LongSteps)
	case f.start.dir != "" || f.start.checkpoint != "":
		return cli.Usagef("more than %d steps: --start and --checkpoint are for the dense optimum", factorize.LongSteps)
	case f.strategy.scaleColumns:
		return cli.Usagef("more than %d steps: no --scale-columns", factorize.LongSteps)
	}
	return nil
}

// long optimizes a strategy of many steps.
func (j *job) long(ctx context.Context) (*outcome, error) {
	responses, sketch, err := plan.ResponsesBy(ctx, j.gram, j.network, j.kind, func(done, total int) { j.progress.Show(float64(done)/float64(total), "network") })
	if err != nil {
		return nil, fmt.Errorf("computing the response of the network: %w", err)
	}
	j.progress.Clear()
	j.progress.Show(0, j.class.Name()+" strategy")
	result, err := j.class.Optimize(ctx, factorize.Long(responses), j.schema, factorize.Options{})
	j.progress.Clear()
	if err != nil {
		return nil, fmt.Errorf("optimizing the %s strategy: %w", j.class.Name(), err)
	}
	if err := plan.JudgeLong(ctx, j.gram, sketch, result.Strategy); err != nil {
		return nil, err
	}
	o := &outcome{special: result}
	if j.flags.noBaselines {
		return o, nil
	}
	steps := j.schema.Steps()
	for _, b := range []struct {
		name string
		c    strategy.Strategy
	}{{"dp-d-sgd", strategy.Identity(steps)}, {"antipgd", strategy.AntiPGD(steps)}} {
		q, err := factorize.Evaluate(b.c, factorize.Long(responses), j.schema)
		if err != nil {
			return nil, fmt.Errorf("evaluating the baseline %s: %w", b.name, err)
		}
		o.baselines = append(o.baselines, benchmarks.Baseline{Name: b.name, Quality: q})
	}
	return o, nil
}

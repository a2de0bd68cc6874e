package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"mafalda/benchmarks"
	"mafalda/factorize"
	"mafalda/internal/cli"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/workload"
)

func bindObjective(cmd *cobra.Command, name *string) {
	about := "what is to be small:"
	var names []string
	for _, o := range plan.Objectives() {
		names = append(names, o.String())
		about += fmt.Sprintf("\n%s: %s", o, o.About())
	}
	cmd.Flags().StringVar(name, "objective", "mean", about)
	cli.CompleteWith(cmd, "objective", names)
}

// checkObjective refuses what only the mean can do.
func (f *optimizeFlags) checkObjective(o plan.Objective, s participation.Schema) error {
	switch {
	case o == plan.Mean:
		return nil
	case f.strategy.class != "dense" || f.split.wanted():
		return cli.Usagef("--objective %s is for one dense strategy", o)
	case !participation.IsPartition(s):
		return cli.Usagef("--objective %s is not for %s participation, whose patterns overlap", o, s.Name())
	}
	return nil
}

// kernel computes what errors depend on, and the sketch that it comes from, if it is an estimate.
func (j *job) kernel(ctx context.Context) (*workload.Kernel, *workload.Sketch, error) {
	k, sketch, err := plan.KernelBy(ctx, j.gram, j.network, j.kind, j.schema.Steps(), func(done, total int) {
		j.progress.Show(float64(done)/float64(total), "Gram matrix")
	})
	j.progress.Clear()
	if err != nil {
		return nil, nil, fmt.Errorf("computing the Gram matrix: %w", err)
	}
	return k, sketch, nil
}

// byObjective computes the optimum for an objective other than the mean, and what the optimum for the mean costs by it.
func (j *job) byObjective(ctx context.Context, k *workload.Kernel, o *outcome) error {
	result, weights, err := j.objective.Optimize(ctx, k, j.schema, factorize.Options{Gap: j.flags.tolerance, Progress: j.iteration})
	j.progress.Clear()
	if err != nil {
		return fmt.Errorf("optimizing: %w", err)
	}
	o.best, o.weights = result, weights
	if j.flags.noBaselines || ctx.Err() != nil {
		return nil
	}
	mean, err := factorize.Optimize(ctx, k.Gram(), j.schema, factorize.Options{})
	if err != nil {
		return err
	}
	q, err := j.objective.Measure(k, j.schema)(mean.Strategy)
	o.baselines = append(o.baselines, benchmarks.Baseline{Name: "mean-optimal", Quality: q})
	return err
}

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
		about += fmt.Sprintf("\n%v: %s", o, o.About())
	}
	cmd.Flags().StringVar(name, "objective", "mean", about)
	cli.CompleteWith(cmd, "objective", names)
}

// checkObjective refuses what only the mean can do.
func (j *job) checkObjective() error {
	o, s := j.objective, j.schema
	switch {
	case o == plan.Mean:
		return nil
	case !j.isDense() || j.flags.split.wanted():
		return cli.Usagef("--objective %v is for one dense strategy", o)
	case !participation.IsPartition(s):
		return cli.Usagef("--objective %v is not for %s participation, whose patterns overlap", o, s.Name())
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
	objective := j.objective.On(k)
	result, err := j.class.Optimize(ctx, objective, j.schema,
		factorize.Options{Gap: j.flags.tolerance, Progress: j.iteration})
	j.progress.Clear()
	if err != nil {
		return fmt.Errorf("optimizing: %w", err)
	}
	o.best = result
	if j.flags.noBaselines || ctx.Err() != nil {
		return nil
	}
	mean, err := factorize.Dense{}.Optimize(ctx, factorize.Mean(k.Gram()), j.schema, factorize.Options{})
	if err != nil {
		return err
	}
	q, err := factorize.Evaluate(mean.Strategy, objective, j.schema)
	o.baselines = append(o.baselines, benchmarks.Baseline{Name: "mean-optimal", Quality: q})
	return err
}

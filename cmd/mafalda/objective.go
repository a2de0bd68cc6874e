package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/benchmarks"
	"mafalda/factorize"
	"mafalda/internal/cli"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// objective says which steps' errors count.
type objective struct {
	name      string
	about     string
	tolerance float64                                                                                                                // default of --tolerance
	of        func(errors []float64) float64                                                                                         // nil for mean, which has a Gram matrix
	optimize  func(context.Context, *workload.Kernel, participation.Schema, factorize.Options) (*factorize.Result, []float64, error) // the weights, if they prove the bound
}

var objectives = []objective{
	{"mean", "the squared error of all steps together", 1e-6, nil, nil},
	{"max", "of the worst step", 1e-3, slices.Max[[]float64],
		func(ctx context.Context, k *workload.Kernel, s participation.Schema, opts factorize.Options) (*factorize.Result, []float64, error) {
			r, err := factorize.OptimizeWorst(ctx, k, s, opts)
			if err != nil {
				return nil, nil, err
			}
			return &r.Result, r.Weights, nil
		}},
	{"last", "of the model after the last step", 1e-2, func(e []float64) float64 { return e[len(e)-1] },
		func(ctx context.Context, k *workload.Kernel, s participation.Schema, opts factorize.Options) (*factorize.Result, []float64, error) {
			r, err := factorize.OptimizeLast(ctx, k, s, opts)
			return r, nil, err
		}},
}

func parseObjective(name string) (objective, error) {
	var names []string
	for _, o := range objectives {
		if o.name == name {
			return o, nil
		}
		names = append(names, o.name)
	}
	return objective{}, fmt.Errorf("unknown objective %q: choose %s", name, strings.Join(names, ", "))
}

// isMean reports whether the objective has a Gram matrix of its own.
func (o objective) isMean() bool { return o.of == nil }

// measure returns what a strategy costs by the objective.
func (o objective) measure(k *workload.Kernel, s participation.Schema) benchmarks.Measure {
	return func(c strategy.Strategy) (factorize.Quality, error) {
		sens, errors, err := factorize.EvaluateSteps(c, k, s)
		if err != nil {
			return factorize.Quality{}, err
		}
		e := o.of(errors)
		return factorize.Quality{Sensitivity: sens, SquaredError: e, Loss: sens.Squared * e}, nil
	}
}

// steps returns how many steps' errors the squared error sums.
func (o objective) steps(all int) int {
	if o.isMean() {
		return all
	}
	return 1
}

func bindObjective(cmd *cobra.Command, name *string) {
	about := "what is to be small:"
	var names []string
	for _, o := range objectives {
		names = append(names, o.name)
		about += fmt.Sprintf("\n%s: %s", o.name, o.about)
	}
	cmd.Flags().StringVar(name, "objective", "mean", about)
	cli.CompleteWith(cmd, "objective", names)
}

// checkObjective refuses what only the mean can do.
func (f *optimizeFlags) checkObjective(o objective, s participation.Schema) error {
	switch {
	case o.isMean():
		return nil
	case f.strategy.class != "dense" || f.split.wanted():
		return cli.Usagef("--objective %s is for one dense strategy", o.name)
	case !participation.IsPartition(s):
		return cli.Usagef("--objective %s is not for %s participation, whose patterns overlap", o.name, s.Name())
	}
	return nil
}

// kernel computes what errors depend on, and the sketch that it comes from, if it is an estimate.
func (j *job) kernel(ctx context.Context) (*workload.Kernel, *workload.Sketch, error) {
	k, sketch, err := kernelBy(ctx, j.gram, j.network, j.kind, j.schema.Steps(), func(done, total int) {
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
	result, weights, err := j.objective.optimize(ctx, k, j.schema, factorize.Options{Gap: j.flags.tolerance, Progress: j.iteration})
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
	q, err := j.objective.measure(k, j.schema)(mean.Strategy)
	o.baselines = append(o.baselines, benchmarks.Baseline{Name: "mean-optimal", Quality: q})
	return err
}

package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"mafalda/benchmarks"
	"mafalda/factorize"
	"mafalda/internal/cli"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// objective says which steps' errors count.
type objective struct {
	kind  factorize.Kind
	about string
}

var objectives = []objective{
	{factorize.MeanError, "the squared error of all steps together"},
	{factorize.WorstStep, "of the worst step"},
	{factorize.LastStep, "of the model after the last step"},
}

func parseObjective(name string) (objective, error) {
	var names []string
	for _, o := range objectives {
		if o.kind.String() == name {
			return o, nil
		}
		names = append(names, o.kind.String())
	}
	return objective{}, fmt.Errorf("unknown objective %q: choose %s", name, strings.Join(names, ", "))
}

// isMean reports whether the objective has a Gram matrix of its own.
func (o objective) isMean() bool { return o.kind == factorize.MeanError }

// on returns the objective of a workload.
func (o objective) on(k *workload.Kernel) factorize.Objective {
	switch o.kind {
	case factorize.WorstStep:
		return factorize.Worst(k)
	case factorize.LastStep:
		return factorize.Last(k)
	}
	return factorize.Mean(k.Gram())
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
		names = append(names, o.kind.String())
		about += fmt.Sprintf("\n%v: %s", o.kind, o.about)
	}
	cmd.Flags().StringVar(name, "objective", "mean", about)
	cli.CompleteWith(cmd, "objective", names)
}

// checkObjective refuses what only the mean can do.
func (j *job) checkObjective() error {
	o, s := j.objective, j.schema
	switch {
	case o.isMean():
		return nil
	case !j.isDense() || j.flags.split.wanted():
		return cli.Usagef("--objective %v is for one dense strategy", o.kind)
	case !participation.IsPartition(s):
		return cli.Usagef("--objective %v is not for %s participation, whose patterns overlap", o.kind, s.Name())
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
	objective := j.objective.on(k)
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

// stepErrors checks squared error and loss of an objective other than the mean, and its lower bound.
func (v *verification) stepErrors(ctx context.Context, o objective, c strategy.Strategy, k *workload.Kernel) error {
	m := v.export.Manifest
	if !participation.IsPartition(v.schema) || !isDense(m.Strategy) {
		v.add("objective", false, "%v is for one dense strategy under patterns that do not overlap", o.kind)
		return nil
	}
	q, err := factorize.Evaluate(c, o.on(k), v.schema)
	if err != nil {
		return err
	}
	v.lossIs(q, o)
	if o.kind == factorize.LastStep {
		return v.lastBound(ctx, c, k)
	}
	best, err := worstBound(ctx, k, v.schema, m.Weights)
	if err != nil {
		v.add("lower bound", false, "%v", err)
		return nil
	}
	v.boundIs("lower bound", "lower_bound", m.LowerBound, best)
	return nil
}

// lastBound proves the bound for the last step by the exported strategy or, if that is not enough, by the search that led to it.
func (v *verification) lastBound(ctx context.Context, c strategy.Strategy, k *workload.Kernel) error {
	m := v.export.Manifest
	if m.Weights != nil {
		v.add("objective", false, "objective_weights are for the objective max, not for last")
	}
	bound, err := factorize.LowerBoundLast(k, strategy.GramOf(c), v.schema)
	if err != nil {
		return err
	}
	if m.LowerBound > bound {
		best, err := factorize.Dense{}.Optimize(ctx, factorize.Last(k), v.schema, factorize.Options{Gap: m.Tolerance})
		if err != nil {
			return err
		}
		bound = math.Max(bound, best.LowerBound*(1+sameMatrix))
	}
	if m.LowerBound > bound {
		v.add("lower bound", false, "%v is proven for lower_bound; the manifest says %v", bound, m.LowerBound)
		return nil
	}
	v.add("lower bound", true, "%s is proven; the manifest says %s", cli.DecimalDown(bound, 12), cli.DecimalDown(m.LowerBound, 12))
	return nil
}

// worstBound computes the optimum for a weighted mean of the steps: the worst step of no strategy has a smaller error.
func worstBound(ctx context.Context, k *workload.Kernel, s participation.Schema, weights []float64) (*factorize.Result, error) {
	if len(weights) != k.Steps() {
		return nil, fmt.Errorf("objective max needs the weights that prove its bound: there are %d for %d steps", len(weights), k.Steps())
	}
	var sum float64
	for t, w := range weights {
		if !(w >= 0) {
			return nil, fmt.Errorf("objective_weights[%d] is %v: must not be negative", t, w)
		}
		sum += w
	}
	if math.Abs(sum-1) > 4*float64(k.Steps())*0x1p-53 {
		return nil, fmt.Errorf("objective_weights sum to %v, not to 1", sum)
	}
	var h mat.SymDense
	h.ScaleSym(1/sum*(1-1e-14), k.WeightedGram(weights))
	return factorize.Dense{}.Optimize(ctx, factorize.Mean(&h), s, factorize.Options{Gap: math.Max(1e-8, factorize.MinGap(k.Steps()))})
}

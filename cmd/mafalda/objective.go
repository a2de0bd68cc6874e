package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"mafalda/benchmarks"
	"mafalda/factorize"
	"mafalda/participation"
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
	return func(c factorize.Strategy) (factorize.Quality, error) {
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
	completeWith(cmd, "objective", names)
}

// checkObjective refuses what only the mean can do.
func (f *optimizeFlags) checkObjective(o objective, s participation.Schema) error {
	switch {
	case o.isMean():
		return nil
	case f.strategy.class != "dense" || f.split.wanted():
		return usagef("--objective %s is for one dense strategy", o.name)
	case !participation.IsPartition(s):
		return usagef("--objective %s is not for %s participation, whose patterns overlap", o.name, s.Name())
	}
	return nil
}

// kernel computes what errors depend on, and the sketch that it comes from, if it is an estimate.
func (j *job) kernel(ctx context.Context) (*workload.Kernel, *workload.Sketch, error) {
	k, sketch, err := kernelBy(ctx, j.gram, j.network, j.kind, j.schema.Steps(), func(done, total int) {
		j.progress.show(float64(done)/float64(total), "Gram matrix")
	})
	j.progress.clear()
	if err != nil {
		return nil, nil, fmt.Errorf("computing the Gram matrix: %w", err)
	}
	return k, sketch, nil
}

// byObjective computes the optimum for an objective other than the mean, and what the optimum for the mean costs by it.
func (j *job) byObjective(ctx context.Context, k *workload.Kernel, o *outcome) error {
	result, weights, err := j.objective.optimize(ctx, k, j.schema, factorize.Options{Gap: j.flags.tolerance, Progress: j.iteration})
	j.progress.clear()
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

// stepErrors checks squared error and loss of an objective other than the mean, and its lower bound.
func (v *verification) stepErrors(ctx context.Context, o objective, c factorize.Strategy, k *workload.Kernel) error {
	m := v.export.Manifest
	q, err := o.measure(k, v.schema)(c)
	if err != nil {
		return err
	}
	v.lossIs(q, o)
	var bound float64
	if m.Weights != nil {
		if bound, err = worstBound(ctx, k, v.schema, m.Weights, m.Tolerance); err != nil {
			v.add("lower bound", false, "%v", err)
			return nil
		}
	} else if bound, err = factorize.LowerBoundLast(k, factorize.GramOf(c), v.schema); err != nil {
		v.add("lower bound", false, "%v", err)
		return nil
	}
	v.add("lower bound", m.LowerBound <= bound*(1+m.Tolerance+1e-9) && same((m.Loss-m.LowerBound)/m.LowerBound+1, m.Gap+1),
		"%s is proven; the manifest says %s", decimalDown(bound, 12), decimalDown(m.LowerBound, 12))
	return nil
}

// worstBound proves that the worst step of no strategy has a smaller error, by a weighted mean of the steps.
func worstBound(ctx context.Context, k *workload.Kernel, s participation.Schema, weights []float64, tolerance float64) (float64, error) {
	if len(weights) != k.Steps() {
		return 0, fmt.Errorf("%d weights for %d steps", len(weights), k.Steps())
	}
	var sum float64
	for _, w := range weights {
		if !(w >= 0) {
			return 0, fmt.Errorf("a step has the weight %v", w)
		}
		sum += w
	}
	var h mat.SymDense
	h.ScaleSym(1/sum*(1-1e-14), k.WeightedGram(weights))
	r, err := factorize.Optimize(ctx, &h, s, factorize.Options{Gap: math.Max(tolerance*tolerance, factorize.MinGap(k.Steps()))})
	if err != nil {
		return 0, err
	}
	return r.LowerBound, nil
}

package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mafalda/benchmarks"
	"mafalda/factorize"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// Objective says which steps' errors count.
type Objective struct {
	Name      string
	About     string
	Tolerance float64                                                                                                                // default of --tolerance
	of        func(errors []float64) float64                                                                                         // nil for mean, which has a Gram matrix
	Optimize  func(context.Context, *workload.Kernel, participation.Schema, factorize.Options) (*factorize.Result, []float64, error) // the weights, if they prove the bound
}

var Objectives = []Objective{
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

func ParseObjective(name string) (Objective, error) {
	var names []string
	for _, o := range Objectives {
		if o.Name == name {
			return o, nil
		}
		names = append(names, o.Name)
	}
	return Objective{}, fmt.Errorf("unknown objective %q: choose %s", name, strings.Join(names, ", "))
}

// IsMean reports whether the objective has a Gram matrix of its own.
func (o Objective) IsMean() bool { return o.of == nil }

// Measure returns what a strategy costs by the objective.
func (o Objective) Measure(k *workload.Kernel, s participation.Schema) benchmarks.Measure {
	return func(c strategy.Strategy) (factorize.Quality, error) {
		sens, errors, err := factorize.EvaluateSteps(c, k, s)
		if err != nil {
			return factorize.Quality{}, err
		}
		e := o.of(errors)
		return factorize.Quality{Sensitivity: sens, SquaredError: e, Loss: sens.Squared * e}, nil
	}
}

// Steps returns how many steps' errors the squared error sums.
func (o Objective) Steps(all int) int {
	if o.IsMean() {
		return all
	}
	return 1
}

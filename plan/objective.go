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

// Objective says which steps' errors are to be small.
type Objective int

const (
	// Mean is the squared error of all steps together.
	Mean Objective = iota
	// Worst is the squared error of the worst step.
	Worst
	// Last is the squared error of the model after the last step.
	Last
)

// objectives are names, descriptions, and default tolerances: of the worst and the last step the last digits take long.
var objectives = [...]struct {
	name, about string
	tolerance   float64
}{
	Mean:  {"mean", "the squared error of all steps together", 1e-6},
	Worst: {"max", "of the worst step", 1e-3},
	Last:  {"last", "of the model after the last step", 1e-2},
}

// Objectives returns all objectives.
func Objectives() []Objective { return []Objective{Mean, Worst, Last} }

// ParseObjective returns the objective of this name.
func ParseObjective(name string) (Objective, error) {
	var names []string
	for _, o := range Objectives() {
		if o.String() == name {
			return o, nil
		}
		names = append(names, o.String())
	}
	return 0, fmt.Errorf("unknown objective %q: choose %s", name, strings.Join(names, ", "))
}

// String returns "mean", "max" or "last".
func (o Objective) String() string { return objectives[o].name }

// About says in a few words whose squared error it is.
func (o Objective) About() string { return objectives[o].about }

// Tolerance is the certified relative gap that a search stops at if none is asked for.
func (o Objective) Tolerance() float64 { return objectives[o].tolerance }

// of returns the error that counts, of the squared errors of all steps. It is not for Mean, which has a Gram matrix.
func (o Objective) of(errors []float64) float64 {
	if o == Last {
		return errors[len(errors)-1]
	}
	return slices.Max(errors)
}

// Measure returns what a strategy costs by the objective.
func (o Objective) Measure(k *workload.Kernel, s participation.Schema) benchmarks.Measure {
	if o == Mean {
		return benchmarks.On(k.Gram(), s)
	}
	return func(c strategy.Strategy) (factorize.Quality, error) {
		sens, errors, err := factorize.EvaluateSteps(c, k, s)
		if err != nil {
			return factorize.Quality{}, err
		}
		e := o.of(errors)
		return factorize.Quality{Sensitivity: sens, SquaredError: e, Loss: sens.Squared * e}, nil
	}
}

// Steps returns how many steps' errors the squared error sums, of so many.
func (o Objective) Steps(all int) int {
	if o == Mean {
		return all
	}
	return 1
}

// Optimize returns the optimum for an objective other than Mean, and the weights of the steps if they prove its bound.
func (o Objective) Optimize(ctx context.Context, k *workload.Kernel, s participation.Schema, opts factorize.Options,
) (*factorize.Result, []float64, error) {
	if o == Last {
		r, err := factorize.OptimizeLast(ctx, k, s, opts)
		return r, nil, err
	}
	r, err := factorize.OptimizeWorst(ctx, k, s, opts)
	if err != nil {
		return nil, nil, err
	}
	return &r.Result, r.Weights, nil
}

package benchmarks

import (
	"context"
	"fmt"

	"mafalda/factorize"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// Baseline is a strategy of the field, measured on a workload.
type Baseline struct {
	Name string // "dp-d-sgd", "antipgd" or "d-mf"
	factorize.Quality
}

// Measure says what a strategy costs, for example by factorize.Evaluate.
type Measure func(c strategy.Strategy) (factorize.Quality, error)

// On measures an objective by factorize.Evaluate.
func On(o factorize.Objective, schema participation.Schema) Measure {
	return func(c strategy.Strategy) (factorize.Quality, error) { return factorize.Evaluate(c, o, schema) }
}

// DMF returns the optimal strategy of centralized learning, which D-MF runs on every node. It is optimized to the smallest
// gap that rounding leaves provable, because its error on another workload is not stationary in it. The error is the
// context's if it ends first.
func DMF(ctx context.Context, schema participation.Schema) (strategy.Strategy, error) {
	steps := schema.Steps()
	prefix := factorize.Mean(workload.PrefixGram(steps))
	return found(factorize.Dense{}.Optimize(ctx, prefix, schema, factorize.Options{Gap: factorize.MinGap(steps)}))
}

// Plain measures DP-D-SGD and AntiPGD, in this order, which need no optimization. The error is that of a measurement.
func Plain(steps int, measure Measure) ([]Baseline, error) {
	return measureAll(measure, named{"dp-d-sgd", strategy.Identity(steps)}, named{"antipgd", strategy.AntiPGD(steps)})
}

// Baselines measures DP-D-SGD, AntiPGD and the given D-MF (see DMF), in this order. The error is that of a measurement.
func Baselines(dmf strategy.Strategy, measure Measure) ([]Baseline, error) {
	plain, err := Plain(dmf.Steps(), measure)
	if err != nil {
		return nil, err
	}
	rows, err := measureAll(measure, named{"d-mf", dmf})
	return append(plain, rows...), err
}

type named struct {
	name     string
	strategy strategy.Strategy
}

func measureAll(measure Measure, all ...named) ([]Baseline, error) {
	var rows []Baseline
	for _, b := range all {
		q, err := measure(b.strategy)
		if err != nil {
			return nil, fmt.Errorf("evaluating the baseline %s: %w", b.name, err)
		}
		rows = append(rows, Baseline{b.name, q})
	}
	return rows, nil
}

package benchmarks

import (
	"fmt"

	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/participation"
	"mafalda/strategy"
)

// Baseline is a strategy of the field, measured on a workload.
type Baseline struct {
	Name string // as of package baselines
	factorize.Quality
}

// Measure says what a strategy costs, for example by factorize.Evaluate.
type Measure func(c strategy.Strategy) (factorize.Quality, error)

// On measures an objective by factorize.Evaluate.
func On(o factorize.Objective, schema participation.Schema) Measure {
	return func(c strategy.Strategy) (factorize.Quality, error) { return factorize.Evaluate(c, o, schema) }
}

// Baselines measures DP-D-SGD, AntiPGD and the given D-MF (see package baselines), in this order. The error is that of
// a measurement.
func Baselines(dmf strategy.Strategy, measure Measure) ([]Baseline, error) {
	steps := dmf.Steps()
	rows := make([]Baseline, 0, 3)
	for _, b := range []struct {
		name     string
		strategy strategy.Strategy
	}{{baselines.DPDSGD, strategy.Identity(steps)}, {baselines.AntiPGD, strategy.AntiPGD(steps)}, {baselines.DMF, dmf}} {
		q, err := measure(b.strategy)
		if err != nil {
			return nil, fmt.Errorf("evaluating the baseline %s: %w", b.name, err)
		}
		rows = append(rows, Baseline{b.name, q})
	}
	return rows, nil
}

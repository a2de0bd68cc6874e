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

// Plain measures DP-D-SGD and AntiPGD, in this order, which need no optimization. It fails if a measurement does.
func Plain(steps int, measure Measure) ([]Baseline, error) {
	return measureAll(measure, named{baselines.DPDSGD, strategy.Identity(steps)},
		named{baselines.AntiPGD, strategy.AntiPGD(steps)})
}

// Baselines measures DP-D-SGD, AntiPGD and the given D-MF (see package baselines), in this order. It
// fails if a measurement does.
func Baselines(dmf strategy.Strategy, measure Measure) ([]Baseline, error) {
	plain, err := Plain(dmf.Steps(), measure)
	if err != nil {
		return nil, err
	}
	rows, err := measureAll(measure, named{baselines.DMF, dmf})
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

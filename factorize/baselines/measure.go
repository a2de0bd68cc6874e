package baselines

import (
	"fmt"

	"mafalda/factorize"
	"mafalda/participation"
	"mafalda/strategy"
)

// Measured is a baseline with its quality on a workload.
type Measured struct {
	Name string // DPDSGD, AntiPGD, DMF, or a name that the caller chose
	factorize.Quality
}

// Measure returns the quality of a strategy on a workload, for example by factorize.Evaluate.
type Measure func(c strategy.Strategy) (factorize.Quality, error)

// MeasureOf returns the Measure of an objective under a schema, factorize.Evaluate.
func MeasureOf(o factorize.Objective, schema participation.Schema) Measure {
	return func(c strategy.Strategy) (factorize.Quality, error) { return factorize.Evaluate(c, o, schema) }
}

// Plain measures DP-D-SGD and AntiPGD, in this order, which need no optimization. It fails if a measurement does.
func Plain(steps int, measure Measure) ([]Measured, error) {
	return measureAll(measure, named{DPDSGD, strategy.Identity(steps)},
		named{AntiPGD, strategy.AntiPGD(steps)})
}

// All measures DP-D-SGD, AntiPGD and the given D-MF, in this order. It fails if a measurement does.
func All(dmf strategy.Strategy, measure Measure) ([]Measured, error) {
	plain, err := Plain(dmf.Steps(), measure)
	if err != nil {
		return nil, err
	}
	rows, err := measureAll(measure, named{DMF, dmf})
	return append(plain, rows...), err
}

type named struct {
	name     string
	strategy strategy.Strategy
}

func measureAll(measure Measure, all ...named) ([]Measured, error) {
	var rows []Measured
	for _, b := range all {
		q, err := measure(b.strategy)
		if err != nil {
			return nil, fmt.Errorf("evaluating the baseline %s: %w", b.name, err)
		}
		rows = append(rows, Measured{b.name, q})
	}
	return rows, nil
}

package main

import (
	"mafalda/benchmarks"
	"mafalda/factorize"
	"mafalda/optim"
	"mafalda/plan"
	"mafalda/strategy"
)

// outcome is what optimize has computed.
type outcome struct {
	best      *factorize.Result // the dense optimum, under the schema or its relaxation
	special   *plan.Structured  // nil: best itself is wanted
	split     *factorize.Split  // strategies of single nodes or groups, if they are wanted
	bound     float64           // where patterns overlap: what OverlapBound proves; 0: nothing
	weights   []float64         // of the steps, if the bound is that of their weighted mean
	baselines []benchmarks.Baseline
}

// chosen returns the strategy to export, if it is only one.
func (o *outcome) chosen() strategy.Strategy {
	if o.special != nil {
		return o.special.Strategy
	}
	return o.best.Strategy
}

// unfinished returns how the first computation that did not reach its tolerance ended, or how the last one did.
func (o *outcome) unfinished() *factorize.Result {
	switch {
	case o.best.Status != optim.Converged:
	case o.special != nil && o.special.Search != nil:
		return o.special.Search
	case o.split != nil:
		return &factorize.Result{Status: o.split.Status, Iterations: o.split.Iterations, Gap: o.split.Gap}
	}
	return o.best
}

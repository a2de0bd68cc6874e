package main

import (
	"mafalda/benchmarks"
	"mafalda/factorize"
	"mafalda/optim"
	"mafalda/strategy"
)

// outcome is what optimize has computed.
type outcome struct {
	best      *factorize.Result // the dense optimum, under the schema or its relaxation
	special   *factorize.Result // of the class; nil: best itself is wanted
	certified bool              // special's search proves how close it came
	split     *factorize.Split  // strategies of single nodes or groups, if they are wanted
	bound     float64           // where patterns overlap: what OverlapBound proves; 0: nothing
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
	case o.special != nil && o.certified:
		return o.special
	case o.split != nil:
		return &factorize.Result{Status: o.split.Status, Iterations: o.split.Iterations, Gap: o.split.Gap}
	}
	return o.best
}

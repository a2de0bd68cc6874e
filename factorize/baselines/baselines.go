package baselines

import (
	"context"
	"fmt"

	"mafalda/factorize"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// Names of the strategies.
const (
	DPDSGD  = "dp-d-sgd"
	AntiPGD = "antipgd"
	DMF     = "d-mf"
)

// Names of strategies that an objective or a setting has besides: MeanOptimal for objectives other than the mean, the
// others where nodes share noise.
const (
	MeanOptimal = "mean-optimal"   // the optimum for the mean, measured by another objective
	LDPOptimal  = "ldp-optimal"    // the best strategy of the class for noise that is not shared
	DECOR       = "decor"          // the best two constants: one variance for all nodes, one for all pairs; C = I
	DECORInTime = "decor-strategy" // the best two constants for the strategy of the solution
)

// HasDMF reports whether there is a DMF for how s trains over T = steps: not where the noise of some steps costs nothing
// without a network. Then no strategy attains the least loss, and what comes near it can be far off on a network.
func HasDMF(s workload.Spec, steps int) bool { return !s.HasFreeNoise(steps) }

// DMFGap is the gap to which DMF is optimized over T = steps: the smallest that rounding leaves provable, some hundred
// times that for training that is not plain, whose Gram matrices are worse conditioned, and 1e-2 where some noise costs
// nothing.
func DMFGap(s workload.Spec, steps int) float64 {
	s = s.Centralized()
	switch least := factorize.MinGap(steps); {
	case s.HasFreeNoise(steps):
		return factorize.LastStep.DefaultGap()
	case s.IsPlain():
		return least
	default:
		return 400 * least
	}
}

// Names returns the names of all of them, in the order of tables.
func Names() []string { return []string{DPDSGD, AntiPGD, DMF} }

// NewFor makes the strategy of this name for the schema's T steps; only DMF takes time, and depends on the rest of the
// schema and on how s trains: it knows the optimizer, and no network. DMF is optimized to DMFGap, a small one because its
// error on another workload is not stationary in it. It fails for an unknown name, as Spec.Check does, if the
// optimization fails, and when the context ends first.
func NewFor(
	ctx context.Context, name string, s workload.Spec, schema participation.Schema,
) (strategy.Strategy, error) {
	steps := schema.Steps()
	switch name {
	case DPDSGD:
		return strategy.Identity(steps), nil
	case AntiPGD:
		return strategy.AntiPGD(steps), nil
	case DMF:
		return centralOptimum(ctx, s.Centralized(), schema)
	}
	return nil, fmt.Errorf("no baseline is called %q", name)
}

// centralOptimum is the certified optimum of centralized learning.
func centralOptimum(ctx context.Context, s workload.Spec, schema participation.Schema) (strategy.Strategy, error) {
	steps := schema.Steps()
	h, err := workload.Gram(ctx, nil, steps, workload.Options{Spec: s})
	if err != nil {
		return nil, err
	}
	r, err := factorize.Dense{}.Optimize(ctx, factorize.Mean(h), schema, factorize.Options{Gap: DMFGap(s, steps)})
	switch {
	case err != nil:
		return nil, err
	case r.Status == optim.Interrupted:
		return nil, context.Canceled
	}
	return r.Strategy, nil
}

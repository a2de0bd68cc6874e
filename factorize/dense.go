package factorize

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"mafalda/participation"
	"mafalda/strategy"
)

// Dense is the class of all strategies.
type Dense = classOf[allStrategies]

type allStrategies struct{}

func (allStrategies) traits() Traits {
	return Traits{
		Name:      strategy.DenseClass,
		About:     "the optimum among all, T rows of noise kept",
		Kinds:     []Kind{MeanError, WorstStep, LastStep},
		Certified: true,
	}
}

// optimize returns the strategy of least loss, with a certificate, for MeanError as follows (Bellet et al., Algorithm
// 2, by the method of docs/mathematics.md): L-BFGS over masked X from a banded start, in the metric of the cosine
// basis, until the certified gap is reached. For b = 1 the optimum is diagonal, for k = 1 it is the optimum under
// single participation.
//
// If the schema's patterns are a partition of the steps (participation.IsPartition), this is the optimum. Under any
// other schema it first looks among the strategies whose columns are orthogonal on every pattern, with a diagonal of X
// within the schema's Budgets, until the gap is reached among these, and then improves on their optimum without mask
// and budgets, by the sensitivity itself (for up to OverlapSteps steps). LowerBound is then the bound for the schema's
// Relaxation, and Gap the distance to it; see OverlapBound for a better one. Under min-sep the strategies have 2b
// bands. In every case no strategy whatsoever has a smaller loss than LowerBound.
//
// When ctx ends first, the best strategy so far is returned with Status optim.Interrupted and a nil error; likewise
// for the other endings before the gap is reached. The error is ErrGram for an H that is not finite or not numerically
// positive definite. For WorstStep and LastStep the same is done again and again: for weighted means of the steps, of
// which the best, Result.Weights, proves that the worst step of no strategy has less error, and for the last step with
// an ever smaller share of all. Memory: about 15 matrices of T×T, and two more an iteration of the descent, up to 40;
// time: O(T³) an iteration, some 30 iterations for a gap of 1e-6.
func (allStrategies) optimize(
	ctx context.Context, o Objective, schema participation.Schema, opts Options,
	_ Parameters,
) (*Result, error) {
	switch o.kind {
	case WorstStep:
		return optimizeWorst(ctx, o.steps, schema.Steps(), schema, opts, evenStep,
			func(h *mat.SymDense, inner Options) (*Result, error) {
				return optimizeMasked(ctx, h, denseMask(schema), inner)
			})
	case LastStep:
		return lastStep(o.steps).optimize(ctx, denseMask(schema), opts, newStepSearch(opts, LastStep))
	}
	return optimizeMasked(ctx, o.gram, denseMask(schema), opts)
}

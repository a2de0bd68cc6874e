package factorize

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/lists"
	"mafalda/participation"
)

// Family is a set of problems with the same schema, one of which will come about, unknown which: Gram matrices (T×T),
// with the least loss that each allows.
type Family struct {
	Grams  []*mat.SymDense
	Optima []float64
}

var _ StepErrors = Family{}

// Steps returns the number of steps, T.
func (f Family) Steps() int { return f.Grams[0].SymmetricDim() }

// StepErrors returns ⟨H_i, Y⟩ over the optimum of every member.
func (f Family) StepErrors(y mat.Symmetric) []float64 {
	return lists.Make(len(f.Grams), func(i int) float64 {
		var sum float64
		for s := range f.Steps() {
			for t := range f.Steps() {
				sum += f.Grams[i].At(s, t) * y.At(s, t)
			}
		}
		return sum / f.Optima[i]
	})
}

// WeightedGram returns Σ weights[i]·H_i over its optimum.
func (f Family) WeightedGram(weights []float64) *mat.SymDense {
	sum := mat.NewSymDense(f.Steps(), nil)
	for i, h := range f.Grams {
		var part mat.SymDense
		part.ScaleSym(weights[i]/f.Optima[i], h)
		sum.AddSym(sum, &part)
	}
	return sum
}

// OptimizeFamily returns the strategy of a class whose largest ratio, of its loss for a member to the optimum of the
// member, is the least:
//
//	min_C max_i loss_i(C)/o_i = max over w ≥ 0, Σw = 1, of opt(Σ w_i H_i/o_i),
//
// convex in X and concave in w. Loss and LowerBound are ratios, and Weights those of the members; LowerBound holds for the
// class, which must be certified (Traits). The errors are those of Class.Optimize, ErrUnsupported for other classes, and
// members without Gram matrix or optimum.
func OptimizeFamily(ctx context.Context, c Class, f Family, schema participation.Schema, opts Options) (*Result, error) {
	if len(f.Grams) == 0 || len(f.Grams) != len(f.Optima) {
		return nil, fmt.Errorf("a family of %d Gram matrices with %d optima", len(f.Grams), len(f.Optima))
	}
	for i, h := range f.Grams {
		if h.SymmetricDim() != schema.Steps() || !(f.Optima[i] > 0) {
			return nil, fmt.Errorf("member %d of a family: T = %d, optimum %v", i, h.SymmetricDim(), f.Optima[i])
		}
	}
	if !c.Traits().Certified {
		return nil, fmt.Errorf("a family of problems for %s strategies: %w", c.Name(), ErrUnsupported)
	}
	return optimizeWorst(ctx, f, len(f.Grams), schema, opts, longStep(), func(h *mat.SymDense, inner Options) (*Result, error) {
		return c.Optimize(ctx, Mean(h), schema, inner)
	})
}

package factorize

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// A Gram matrix is singular, at least numerically, where the noise of some steps costs next to nothing: steps that do not
// count, or have a rate of 0. The error then has no smallest value, since such noise can be made as large as one likes
// to hide what others add, but it has an infimum. It is approached by the optima for H + mix·I, and bounded by their
// dual variables, which are as good for H itself.

// singularMixes are the mixes, relative to the mean of H's diagonal.
func singularMixes() []float64 { return []float64{1e-4, 1e-6, 1e-8, 1e-10} }

// isDefinite reports whether h is numerically positive definite.
func isDefinite(h *mat.SymDense) bool {
	var chol dense.Cholesky
	return chol.Factorize(h)
}

// mixed returns h + mix·(mean of the diagonal)·I.
func mixed(h *mat.SymDense, mix float64) *mat.SymDense {
	n := h.SymmetricDim()
	out := mat.NewSymDense(n, nil)
	out.CopySym(h)
	add := mix * mat.Trace(h) / float64(n)
	for s := range n {
		out.SetSym(s, s, out.At(s, s)+add)
	}
	return out
}

// optimizeSingular is optimizeMasked for a positive semidefinite h. The error is ErrGram for others, and where patterns
// overlap.
func optimizeSingular(ctx context.Context, h *mat.SymDense, k mask, opts Options) (*Result, error) {
	root, err := semidefiniteRoot(h)
	if err != nil {
		return nil, err
	}
	if !participation.IsPartition(k.schema) {
		return nil, fmt.Errorf("%w: it is not positive definite, and patterns overlap", ErrGram)
	}
	best := &Result{Status: optim.IterationLimit}
	best.Loss = math.Inf(1)
	inner := opts
	inner.Gap = math.Max(opts.Gap/8, MinGap(k.schema.Steps()))
	before := 0
	inner.Progress = func(it Iteration) {
		if opts.Progress != nil {
			it.Count += before
			opts.Progress(it)
		}
	}
	for _, mix := range singularMixes() {
		regular := mixed(h, mix)
		r, err := optimizeMasked(ctx, regular, k, inner)
		if err != nil {
			return nil, err
		}
		before += r.Iterations
		best.Iterations = before
		q, err := Evaluate(r.Strategy, Mean(h), k.schema)
		if err != nil {
			return nil, err
		}
		if q.Loss < best.Loss {
			best.Strategy, best.Quality = r.Strategy, q
		}
		bound, err := mixedBound(root, regular, strategy.GramOf(r.Strategy), k)
		if err != nil {
			return nil, err
		}
		best.LowerBound = math.Max(best.LowerBound, bound)
		best.Gap = gapOf(best.Loss, best.LowerBound)
		switch {
		case best.Gap <= opts.Gap:
			best.Status = optim.Converged
			return best, nil
		case r.Status == optim.Interrupted:
			best.Status = optim.Interrupted
			return best, nil
		}
		inner.Start = strategy.GramOf(r.Strategy)
	}
	return best, nil
}

// semidefiniteRoot is rootBelow for h that is positive semidefinite but for rounding.
func semidefiniteRoot(h *mat.SymDense) (*mat.Dense, error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(h, false) {
		return nil, fmt.Errorf("%w: its eigenvalues did not converge", ErrGram)
	}
	values := eigen.Values(nil)
	n := len(values)
	if rounding := 64 * float64(n) * 0x1p-53 * values[n-1]; !(values[0] >= -rounding) {
		return nil, fmt.Errorf("%w: it is not positive definite in floating point", ErrGram)
	}
	return rootBelow(h)
}

// mixedBound is the lower bound for the loss on RᵀR, with the dual variable of x for h.
func mixedBound(root *mat.Dense, h, x *mat.SymDense, k mask) (float64, error) {
	_, lambda, err := dualOf(h, mat.DenseCopyOf(x).RawMatrix().Data, k)
	if err != nil {
		return 0, err
	}
	return singularValueBound(root, lambda, k)
}

// lowerBoundSingular is LowerBound for a positive semidefinite h.
func lowerBoundSingular(h, x *mat.SymDense, k mask) (float64, error) {
	root, err := semidefiniteRoot(h)
	if err != nil {
		return 0, err
	}
	best := 0.0
	for _, mix := range singularMixes() {
		bound, err := mixedBound(root, mixed(h, mix), x, k)
		if err != nil {
			return 0, err
		}
		best = math.Max(best, bound)
	}
	return best, nil
}

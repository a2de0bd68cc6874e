package factorize

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// errSingular is wrapped where a Gram matrix has no Cholesky factor in floating point.
var errSingular = errors.New("it is not positive definite in floating point")

// withShare returns h with such a share of its mean diagonal on the diagonal, too: its square at steps that do not count,
// whose rows are zero. They are by themselves in the sum, and cannot make it ill-conditioned however little they have;
// what the optimum for the sum spends on them is the root of it.
func withShare(h *mat.SymDense, share float64) *mat.SymDense {
	var sum mat.SymDense
	sum.ScaleSym(1, h)
	steps := h.SymmetricDim()
	mean := mat.Trace(h) / float64(steps)
	for t := range steps {
		more := share * mean
		if h.At(t, t) == 0 {
			more *= share
		}
		sum.SetSym(t, t, sum.At(t, t)+more)
	}
	return &sum
}

// optimizeSingular is optimizeMasked for Gram matrices that are positive semidefinite only, where the noise of some
// steps, or of combinations of them, costs nothing: steps that do not count, rates of zero. The infimum need not be
// attained then. A share of the identity is added, less and less of it until the certified gap is reached; losses and
// LowerBound are for h itself, the latter from the singular values of a factor that is below it, as in optimizeLast.
func optimizeSingular(ctx context.Context, h *mat.SymDense, k mask, opts Options) (*Result, error) {
	root, err := rootBelow(h)
	if err != nil {
		return nil, err
	}
	best := &Result{Status: optim.Stalled}
	best.Loss = math.Inf(1)
	inner := Options{Gap: math.Max(opts.Gap/8, MinGap(k.schema.Steps())), MaxIterations: opts.MaxIterations,
		Start: opts.Start}
	relaxed := newMask(participation.Relaxation(k.schema), k.bandwidth)
	for round, share := range lastMixes() {
		some := withShare(h, share)
		r, err := optimizeMasked(ctx, some, k, inner)
		if err != nil {
			return nil, err
		}
		best.Iterations += r.Iterations
		x := strategy.GramOf(r.Strategy)
		q, err := Evaluate(r.Strategy, Mean(h), k.schema)
		if err != nil {
			return nil, err
		}
		if q.Loss < best.Loss {
			best.Strategy, best.Quality = r.Strategy, q
		}
		bound, err := boundBelow(root, some, x, relaxed)
		if err != nil {
			return nil, err
		}
		best.LowerBound = math.Max(best.LowerBound, bound)
		best.Gap = gapOf(best.Loss, best.LowerBound)
		if opts.Progress != nil {
			opts.Progress(Iteration{Count: round, Loss: best.Loss, LowerBound: best.LowerBound, Gap: best.Gap,
				X: mat.DenseCopyOf(x).RawMatrix().Data})
		}
		if best.Gap <= opts.Gap {
			best.Status = optim.Converged
			break
		}
		if r.Status == optim.Interrupted {
			best.Status = optim.Interrupted
			break
		}
		inner.Start = x
	}
	return best, nil
}

// lowerBoundSingular is LowerBound for Gram matrices that are positive semidefinite only.
func lowerBoundSingular(h, x *mat.SymDense, k mask) (float64, error) {
	root, err := rootBelow(h)
	if err != nil {
		return 0, err
	}
	best := 0.0
	for _, share := range lastMixes() {
		bound, err := boundBelow(root, withShare(h, share), x, k)
		if err != nil {
			return 0, err
		}
		best = math.Max(best, bound)
	}
	return best, nil
}

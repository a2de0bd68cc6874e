package factorize

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
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

// singularGram is a Gram matrix h that is positive semidefinite only, where the noise of some steps, or of combinations
// of them, costs nothing. The infimum need not be attained then. In its place come matrices with a share of something
// positive definite.
type singularGram struct {
	h    *mat.SymDense
	with func(share float64) *mat.SymDense
}

// singularShares returns the shares that are added, from the first attempt to the last.
func singularShares() []float64 { return []float64{1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6} }

// optimizeSingular is optimizeMasked for a singular h: steps that do not count, rates of zero.
func optimizeSingular(ctx context.Context, h *mat.SymDense, k mask, opts Options) (*Result, error) {
	search := newStepSearch(opts, MeanError)
	search.best.Status = optim.Stalled
	return semidefinite(h).optimize(ctx, k, opts, search)
}

// semidefinite returns a Gram matrix with shares of its mean diagonal.
func semidefinite(h *mat.SymDense) singularGram {
	return singularGram{h, func(share float64) *mat.SymDense { return withShare(h, share) }}
}

// optimize minimizes the loss over the mask, with an ever smaller share until the certified gap is reached. Losses and
// LowerBound are for h itself, the latter from the singular values of a factor that is below it. Where patterns overlap,
// the gap that ends it is within the mask, and refineOverlap follows.
func (g singularGram) optimize(ctx context.Context, k mask, opts Options, rounds *stepSearch) (*Result, error) {
	root, err := rootBelow(g.h)
	if err != nil {
		return nil, err
	}
	best := rounds.best
	inner := Options{Gap: math.Max(rounds.gap/8, MinGap(k.schema.Steps())), MaxIterations: opts.MaxIterations,
		Start: opts.Start}
	var within search
	for round, share := range singularShares() {
		some := g.with(share)
		if within, err = optimizeWithin(ctx, some, k, inner); err != nil {
			return nil, err
		}
		r := within.result
		q, err := Evaluate(r.Strategy, Mean(g.h), k.schema)
		if err != nil {
			return nil, err
		}
		if q.Loss < best.Loss {
			best.Strategy, best.Quality = r.Strategy, q
		}
		x := strategy.GramOf(r.Strategy)
		bound, err := boundBelow(root, some, x, k)
		if err != nil {
			return nil, err
		}
		best.LowerBound = math.Max(best.LowerBound, bound)
		if rounds.isLastRound(round, r, x) {
			break
		}
		inner.Start = x
	}
	if participation.IsPartition(k.schema) {
		return best, nil
	}
	within.opts = Options{Gap: rounds.gap, LowerBound: opts.LowerBound}
	return within.refineOverlap(ctx, g.h, best)
}

// lowerBound is LowerBound within a mask of patterns that do not overlap.
func (g singularGram) lowerBound(x *mat.SymDense, k mask) (float64, error) {
	root, err := rootBelow(g.h)
	if err != nil {
		return 0, err
	}
	best := 0.0
	for _, share := range singularShares() {
		bound, err := boundBelow(root, g.with(share), x, k)
		if err != nil {
			return 0, err
		}
		best = math.Max(best, bound)
	}
	return best, nil
}

// dualBelow returns R with RᵀR ≤ h, and Λ = x⁻¹hx⁻¹: for an h that is singular in floating point, Λ of one a little above.
func dualBelow(h *mat.SymDense, x []float64, k mask) (*mat.Dense, []float64, error) {
	o, err := dualOf(h, x, k)
	if err == nil {
		return mat.DenseCopyOf(o.upper), o.lambda, nil
	}
	if !errors.Is(err, errSingular) {
		return nil, nil, err
	}
	below, err := rootBelow(h)
	if err != nil {
		return nil, nil, err
	}
	if o, err = dualOf(withShare(h, 1e-6), x, k); err != nil {
		return nil, nil, err
	}
	return below, o.lambda, nil
}

// rootBelow returns R with RᵀR ≤ h for a positive semidefinite h: the eigenvalues are lowered by what their
// computation can have lost.
func rootBelow(h *mat.SymDense) (*mat.Dense, error) {
	values, vectors, ok := dense.Spectrum(h)
	if !ok {
		return nil, fmt.Errorf("%w: its eigenvalues did not converge", ErrGram)
	}
	n := h.SymmetricDim()
	if lost := 64 * float64(n) * 0x1p-53 * values[n-1]; !(values[0] >= -lost) {
		return nil, fmt.Errorf("%w: it is not positive semidefinite, with the eigenvalue %v", ErrGram, values[0])
	}
	var root mat.Dense
	root.CloneFrom(vectors.T())
	for i, v := range values {
		scale := math.Sqrt(math.Max(v-8*float64(n)*0x1p-53*values[n-1], 0))
		row := root.RawRowView(i)
		floats.Scale(scale, row)
	}
	return &root, nil
}

// boundBelow is the lower bound of LowerBound for the loss on RᵀR, with the dual variable of x for h, within a mask of
// patterns that do not overlap.
func boundBelow(root *mat.Dense, h, x *mat.SymDense, k mask) (float64, error) {
	o, err := dualOf(h, numbersOf(x), k)
	if err != nil {
		return 0, err
	}
	return singularValueBound(root, o.lambda, k, o.scratch)
}

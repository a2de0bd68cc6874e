package factorize

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/fault"
	"mafalda/internal/series"
	"mafalda/optim"
	"mafalda/strategy"
)

// Bins is the class of strategies without negative entries for random bins (bins.Mechanism), which nothing is proved
// for otherwise.
type Bins struct {
	Number    int // b, 1 to T
	Bandwidth int // bands; 0 means T: dense
}

func (p Bins) check(h *mat.SymDense) error {
	switch {
	case h == nil:
		return fault.New("Objective", nil, "no Gram matrix")
	case p.Number < 1 || p.Number > h.SymmetricDim():
		return fault.New("Number", p.Number, "must be from 1 to T = %d", h.SymmetricDim())
	case p.Bandwidth < 0 || p.Bandwidth > h.SymmetricDim():
		return fault.New("Bandwidth", p.Bandwidth, "must be from 1 to T = %d", h.SymmetricDim())
	}
	return nil
}

// Blend returns weights for Minimize, (1-λ)/b on the diagonal and λ/b² everywhere: from the mean of the |m_j|² to the
// square of the mean of the m_j, which is what privacy pays for where the secret hides the most.
func (p Bins) Blend(lambda float64) *mat.SymDense {
	n := p.Number
	return dense.NewSym(n, func(i, j int) float64 {
		if i == j {
			return lambda/float64(n*n) + (1-lambda)/float64(n)
		}
		return lambda / float64(n*n)
	})
}

// Minimize looks for the C without negative entries of the least tr(C⁻ᵀHC⁻¹)·⟨weights, G⟩, or, if weights is nil,
// times the largest G[j,j], which is sens² of such strategies under cyclic participation, that is, when the draw is
// known. It goes from start, or from a guess if that is nil, by L-BFGS over the square roots of the entries: to a
// local optimum, and without a certificate, but a lower bound for all strategies (Dense) is one. C is scaled so that
// the second factor is 1. Of Options only MaxIterations counts, 0 means 400. When ctx ends first, the best so far is
// returned with Status optim.Interrupted. The errors are a fault.Argument of Number, Bandwidth or Objective, and
// ErrGram for an H that leaves no finite error.
func (p Bins) Minimize(
	ctx context.Context, h, weights *mat.SymDense, start mat.Matrix, opts Options,
) (strategy.Strategy, optim.Result, error) {
	if err := p.check(h); err != nil {
		return nil, optim.Result{}, err
	}
	o, n := newBinsObjective(h, p, weights), h.SymmetricDim()
	if start == nil {
		start = p.guess(o)
	}
	theta := make([]float64, n*n)
	for t := range n {
		for s := max(0, t-o.bands+1); s <= t; s++ {
			theta[t*n+s] = math.Sqrt(math.Max(start.At(t, s), leastStart*start.At(s, s)))
		}
	}
	ended := minimize(ctx, o, theta, cmp.Or(opts.MaxIterations, 400), enough)
	if value := o.Value(theta); math.IsInf(value, 0) {
		return nil, ended, ErrGram
	}
	var c strategy.Strategy
	var err error
	if o.bands < n {
		c, err = strategy.NewBanded(o.matrix(), p.Bandwidth)
	} else {
		c, err = strategy.NewDense(o.matrix())
	}
	return c, ended, err
}

// enough is the relative decrease that the next step has to promise for a search to go on.
const enough = 1e-7

// leastStart is what an entry starts from at least, in parts of the diagonal: at zero, squares have no slope.
const leastStart = 1e-5

// guess returns the square root of the prefix workload, whose entries are positive, with columns weighted by H.
func (p Bins) guess(o *binsObjective) mat.Matrix {
	n := o.steps
	root := series.PrefixRoot(n)
	c := mat.NewTriDense(n, mat.Lower, nil)
	for s := range n {
		weight := math.Sqrt(math.Sqrt(o.h[s*n+s]))
		for t := s; t < min(n, s+o.bands); t++ {
			c.SetTri(t, s, weight*root[t-s])
		}
	}
	return c
}

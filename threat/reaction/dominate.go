package reaction

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/fault"
	"mafalda/internal/gemm"
	"mafalda/strategy"
)

// MaxExact is the largest number m·T for which a dense strategy is bounded with the state of all its noise.
const MaxExact = 500

// maxMemory is how many numbers, at most, a node of a state keeps for the strategies that Strategies picks.
const maxMemory = 16

// Stand is a strategy C' with little memory that stands for another one, C: CᵀC ⪯ Factor·C'ᵀC'. Shifts of noise cost at
// most Factor times as much with C as with C', so a squared sensitivity of C' times Factor is one of C.
type Stand struct {
	Strategy strategy.Strategy
	Factor   float64
}

// Strategies returns what may stand for a strategy among m hidden nodes: itself, Factor 1, where the state is small (a
// filter of few numbers, or m·T up to MaxExact), and else its first bands, as many as a state of MaxExact numbers or a
// tenth of it has room for. The error is one of the strategy's own: it has no inverse.
func Strategies(c strategy.Strategy, m int) ([]Stand, error) {
	memory := c.NodeCost().Floats
	if m*c.Steps() <= MaxExact || m*(1+memory) <= MaxExact || memory <= 1 {
		return []Stand{{c, 1}}, nil
	}
	whole := mat.DenseCopyOf(lower(c))
	var out []Stand
	for bands := 1; bands <= min(maxMemory, c.Steps()) && (bands <= 2 || m*bands <= MaxExact); bands *= 2 {
		cut := mat.NewDense(c.Steps(), c.Steps(), nil)
		for t := range c.Steps() {
			for s := max(0, t-bands+1); s <= t; s++ {
				cut.Set(t, s, whole.At(t, s))
			}
		}
		banded, err := strategy.NewBanded(cut, bands)
		if err != nil {
			return nil, err
		}
		factor, err := Dominate(c, banded)
		if err != nil {
			return nil, err
		}
		out = append(out, Stand{banded, factor})
	}
	return out, nil
}

// Dominate returns a factor γ, proven and near the least one, with CᵀC ⪯ γ·C'ᵀC'. The error is a fault.Argument for
// strategies of different lengths, or if no factor is proven.
func Dominate(c, by strategy.Strategy) (float64, error) {
	n := c.Steps()
	if by.Steps() != n {
		return 0, fault.New("by", nil, "has %d steps, not %d", by.Steps(), n)
	}
	var inverse mat.TriDense
	if err := by.NoisingTo(&inverse); err != nil {
		return 0, err
	}
	full, other := mat.DenseCopyOf(lower(c)), mat.DenseCopyOf(lower(by))
	var ratio mat.Dense
	ratio.Mul(full, &inverse)
	var svd mat.SVD
	if !svd.Factorize(&ratio, mat.SVDNone) {
		return 0, fault.New("by", nil, "does not dominate: singular values were not found")
	}
	largest := svd.Values(nil)[0]
	// γC'ᵀC' − CᵀC, less what rounding may have added, must have a Cholesky factor
	left, right := gram(full), gram(other)
	for factor, above := largest*largest, 1e-9; above < 1; above *= 10 {
		gamma := factor * (1 + above)
		a := make([]float64, n*n)
		for i := range a {
			a[i] = gamma*right[i] - left[i]
		}
		for i := range n {
			scale := gamma*right[i*n+i] + left[i*n+i]
			a[i*n+i] -= scale * 4 * proofMargin(n)
		}
		if _, ok := gemm.Potrf(blas64.Symmetric{N: n, Stride: n, Data: a, Uplo: blas.Lower}); ok {
			return gamma, nil
		}
	}
	return 0, fault.New("by", nil, "does not dominate: no factor is proven")
}

// lower returns C.
func lower(c strategy.Strategy) *mat.TriDense {
	var out mat.TriDense
	c.StrategyTo(&out)
	return &out
}

// gram returns CᵀC.
func gram(c *mat.Dense) []float64 {
	n, _ := c.Dims()
	out := make([]float64, n*n)
	gemm.Gemm(blas.Trans, blas.NoTrans, 1, c.RawMatrix(), c.RawMatrix(), 0, general(n, n, out))
	symmetrize(out, n)
	return out
}

// BoundStrategy returns Bound's result for nodes that add noise correlated by C to their gradients: of the stand-ins
// that Strategies returns the one with the least bound. Numbers other than SensSquared are those of C itself where C
// stands for itself; otherwise only LocalDP is, and there is no attack. The error is a fault.Argument where rules of
// the system have a memory of noise themselves.
func BoundStrategy(ctx context.Context, s *System, c strategy.Strategy, v Victim, reaction Reaction,
	o Options) (*Result, error) {
	if c.Steps() != len(s.Steps) {
		return nil, fault.New("Strategy", nil, "has %d steps, not %d", c.Steps(), len(s.Steps))
	}
	stands, err := Strategies(c, s.Nodes)
	if err != nil {
		return nil, err
	}
	var best *Result
	for _, stand := range stands {
		correlated, err := s.Correlated(stand.Strategy)
		if err != nil {
			return nil, err
		}
		itself := stand.Factor == 1
		options := o
		if !itself {
			options.Improvements = -1
		}
		r, err := Bound(ctx, correlated, v, reaction, options)
		if err != nil || itself {
			return r, err
		}
		r.SensSquared *= stand.Factor * (1 + 1e-15)
		if best == nil || r.SensSquared < best.SensSquared {
			best = r
		}
	}
	local := localOf(s)
	if local.gram != nil {
		return nil, fault.New("Strategy", nil, "is for nodes whose rules have no memory of noise")
	}
	local.gram = strategy.GramOf(c)
	best.LocalDP = local.squared(v)
	if !(best.SensSquared < best.LocalDP) {
		best.SensSquared, best.Pattern = best.LocalDP, nil
		if best.Why == "" {
			best.Why = "no strategy of little memory that stands for this one says more"
		}
	}
	return best, nil
}

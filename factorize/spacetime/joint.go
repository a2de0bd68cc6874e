package spacetime

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
	"mafalda/internal/parallel"
	"mafalda/secrets"
	"mafalda/strategy"
)

// Separable is in words the noise that JointLowerBound is a bound for: M ⊗ (CᵀC)⁻¹.
const Separable = "noise that is one covariance between nodes times one strategy over time"

// JointLowerBound returns a lower bound of the loss of every pair (M, C) with pair variances up to LargestPair
// and any strategy C, for a result of Optimize for the problem. It is a bound for noise of the covariance M ⊗ (CᵀC)⁻¹:
// where the own noise and every pair have a correlation over time of their own, the loss can be below it.
//
// Let φ(H) be the least loss of a strategy for the Gram matrix H. It is concave and homogeneous of degree one, hence
// superadditive, and H(M) = Σ_i x_i H(b_ib_iᵀ), so that
//
//	loss(M, C) ≥ φ(H(M)) ≥ Σ_i x_i φ(H(b_ib_iᵀ)).
//
// The right-hand side is linear in the variances: its minimum over those that protect every node is a problem as Space
// solves it, with costs φ(H(b_ib_iᵀ)), or lower bounds of these, and that problem's certificate is the bound. The bounds
// come from two dual points (factorize.Dual), the result's and the one for M = Ω: O(T³) for every node and pair.
//
// The other bound takes all nodes together: where every coalition of c nodes is an attacker, M_A ≥ ω_v d_vd_vᵀ,
// averaged over A and v, leaves out a share c/n of tr(KM), so that loss ≥ φ(H(Ω))/(n-c), Ω = diag(ω). It is the better
// one only on graphs like the complete one. When ctx ends first, it is the bound that is returned.
func JointLowerBound(ctx context.Context, p Problem, r *Result) (float64, error) {
	if err := p.check(); err != nil {
		return 0, err
	}
	options, err := SpaceOptions{Gap: JointGap(p.Secrets)}.withDefaults()
	if err != nil {
		return 0, err
	}
	duals, together, err := p.duals(context.WithoutCancel(ctx), r)
	if err != nil {
		return 0, err
	}
	costs, err := p.leastCosts(ctx, duals)
	switch {
	case ctx.Err() != nil:
		return together, nil
	case err != nil:
		return 0, err
	}
	s, err := newSearchOf(newDesignOf(costs, p.Setting), p.Setting, options)
	if err != nil {
		return 0, err
	}
	s.run(ctx)
	return math.Max(s.bound, together), nil // a bound that a context ended is one, too
}

// JointGap returns how far JointLowerBound may be below the best bound of its kind.
func JointGap(g *secrets.Graph) float64 {
	switch variables := Variables(g.Nodes(), len(g.Pairs())); {
	case variables > 8000: // a step takes half a minute
		return 1e-2
	case variables > 2000:
		return 1e-3
	}
	return 1e-4
}

// duals returns the dual points of the result and of M = Ω, and the bound of all nodes together, rounded down.
func (p Problem) duals(ctx context.Context, r *Result) (all []*factorize.Dual, together float64, err error) {
	n := p.Workload.Nodes()
	for _, at := range []struct {
		m *mat.SymDense
		c strategy.Strategy
	}{{r.Noise.Covariance(), r.Time.Strategy}, {p.Alone(), r.LDP.Strategy}} {
		h, err := p.Workload.TimeGram(ctx, at.m)
		if err != nil {
			return nil, 0, err
		}
		dual, err := factorize.NewDual(h, strategy.GramOf(at.c), p.Schema)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, dual)
		if together, err = dual.LowerBound(h); err != nil { // at last of H(Ω)
			return nil, 0, err
		}
	}
	return all, math.Max(together, r.LDP.LowerBound) / float64(n-p.Attackers.Colluding()) * (1 - 1e-12), nil
}

// leastCosts returns lower bounds of φ(H(b_ib_iᵀ)) for all nodes and pairs.
func (p Problem) leastCosts(ctx context.Context, duals []*factorize.Dual) ([]float64, error) {
	n := p.Workload.Nodes()
	costs := make([]float64, n+len(p.Secrets.Pairs()))
	errs := make([]error, len(costs))
	parallel.For(len(costs), func(i int) {
		if errs[i] = ctx.Err(); errs[i] == nil {
			costs[i], errs[i] = p.leastCost(ctx, i, duals)
		}
	})
	return costs, errors.Join(errs...)
}

func (p Problem) leastCost(ctx context.Context, i int, duals []*factorize.Dual) (float64, error) {
	b := make([]float64, p.Workload.Nodes())
	if i < len(b) {
		b[i] = 1
	} else {
		pair := p.Secrets.Pairs()[i-len(b)]
		b[pair.U], b[pair.V] = 1, -1
	}
	h, err := p.Workload.VectorGram(ctx, b)
	if err != nil {
		return 0, err
	}
	if !(mat.Trace(h) > 0) {
		return 0, nil
	}
	var least float64
	for _, d := range duals {
		bound, err := d.LowerBound(h)
		if err != nil {
			return 0, err
		}
		least = math.Max(least, bound)
	}
	return least, nil
}

package sampled

import (
	"cmp"
	"context"

	"gonum.org/v1/gonum/floats"

	"mafalda/accounting"
	"mafalda/accounting/bins"
	"mafalda/accounting/sampling"
	"mafalda/internal/fault"
	"mafalda/internal/rounding"
	"mafalda/participation"
	"mafalda/strategy"
)

// ClaimOf returns what the accountant says of a mechanism with secret batches: ε for δ, and the curve it is on.
// With PoissonSampling, TruncatedSampling and AllocationSampling the strategy must have no more bands than groups, with
// BinsSampling no negative entry; CyclicSampling has no secret, and is μ-GDP. Of records that are replaced nothing is
// proved for BinsSampling and AllocationSampling, which are refused with a fault.Argument of the field Adjacency. The
// errors are a fault.Argument, threat.ErrAudit and the errors of the accountant.
func ClaimOf(ctx context.Context, a accounting.Adjacency, c strategy.Strategy, s participation.Sampling,
	noiseMultiplier, delta float64) (claim Claim, err error) {
	defer func() { claim.Adjacency = a }()
	if err := cmp.Or(a.Check(), fault.Positive("NoiseMultiplier", noiseMultiplier),
		fault.CheckRange("Delta", delta, "(0,1)")); err != nil {
		return Claim{}, err
	}
	cs, err := columnsOf(c)
	if err != nil {
		return Claim{}, err
	}
	if _, err := s.Sampler(participation.SamplerOptions{Steps: len(cs), Key: participation.SeededKey(0, "")}); err != nil {
		return Claim{}, err
	}
	if s, cyclic := s.(participation.CyclicSampling); cyclic {
		return cs.claimCyclic(a, s, noiseMultiplier, delta)
	}
	of, known := sampling.NumbersOf(s, len(cs), a)
	switch {
	case a != accounting.ZeroOut && !(known && of.Kind().Traits().Independent):
		return Claim{}, fault.New("Adjacency", a, "has no accountant under %s: say which epsilon is claimed", s.Name())
	case !known:
		return Claim{}, fault.New("Sampling", s.Name(), "has no accountant here: say which epsilon is claimed")
	case !of.Kind().Traits().Banded:
		return claimBins(ctx, c, of.Groups, noiseMultiplier, delta)
	}
	return cs.claimDraw(of, noiseMultiplier, delta)
}

// claimDraw is for columns with at most the largest norm, which is what the noise protects.
func (c columns) claimDraw(of sampling.Numbers, noise, delta float64) (Claim, error) {
	if err := c.checkBands(of.Groups); err != nil {
		return Claim{}, err
	}
	d, err := of.Draw()
	if err != nil {
		return Claim{}, err
	}
	noise /= c.largestNorm()
	epsilon, err := d.Epsilon(delta, noise)
	curve := func(epsilon float64) (float64, error) { return d.Delta(epsilon, noise) }
	return Claim{Epsilon: epsilon, Delta: delta, Curve: curve}, err
}

// checkBands refuses columns of one group that overlap.
func (c columns) checkBands(groups int) error {
	for s, column := range c {
		if column.end() > s+groups {
			return fault.New("Groups", groups, "are fewer than the %d bands of the strategy, so that a "+
				"record's steps overlap, for which no epsilon is proved: say which one is claimed", len(column.entries))
		}
	}
	return nil
}

// claimBins is by Monte Carlo, from seed 0, with the accountant's own confidence.
func claimBins(ctx context.Context, c strategy.Strategy, number int, noise, delta float64) (Claim, error) {
	b, err := bins.New(strategy.LowerOf(c), number)
	if err != nil {
		return Claim{}, err
	}
	p, err := b.Epsilon(ctx, delta, noise, bins.MonteCarlo{})
	curve := func(epsilon float64) (float64, error) {
		d, err := b.Delta(ctx, epsilon, noise, bins.MonteCarlo{Samples: 1 << 16})
		return d.Upper, err
	}
	return Claim{Epsilon: p.Epsilon, Delta: delta, Curve: curve}, err
}

// claimCyclic is for the batch whose columns have the largest sum.
func (c columns) claimCyclic(a accounting.Adjacency, s participation.CyclicSampling,
	noise, delta float64) (Claim, error) {
	moved := a.Contribution(floats.Norm(c.sum(c.worstBatch(s.Batches)), 2))
	mu := rounding.DivUp(rounding.Above(moved*(1+1e-12)), noise)
	epsilon, err := accounting.Epsilon(mu, delta)
	curve := func(epsilon float64) (float64, error) { return accounting.Delta(mu, epsilon) }
	return Claim{Epsilon: epsilon, Delta: delta, Curve: curve}, err
}

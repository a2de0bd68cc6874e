package sampled

import (
	"cmp"
	"context"

	"gonum.org/v1/gonum/floats"

	"mafalda/accounting"
	"mafalda/accounting/allocation"
	"mafalda/accounting/bins"
	"mafalda/accounting/pld"
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
	switch s := s.(type) {
	case participation.PoissonSampling:
		return cs.claimPoisson(a, s, sampling.Batches{}, noiseMultiplier, delta)
	case participation.TruncatedSampling:
		batches := sampling.Batches{Records: s.Most, Most: s.MaxBatch}
		if err := batches.Check(); err != nil {
			return Claim{}, err
		}
		return cs.claimPoisson(a, s.PoissonSampling, batches, noiseMultiplier, delta)
	case participation.CyclicSampling:
		return cs.claimCyclic(a, s, noiseMultiplier, delta)
	}
	if a == accounting.ReplaceOne {
		return Claim{}, fault.New("Adjacency", a, "has no accountant under %s: say which epsilon is claimed", s.Name())
	}
	switch s := s.(type) {
	case participation.BinsSampling:
		return claimBins(ctx, c, s, noiseMultiplier, delta)
	case participation.AllocationSampling:
		return cs.claimAllocation(s, noiseMultiplier, delta)
	}
	return Claim{}, fault.New("Sampling", s.Name(), "has no accountant here: say which epsilon is claimed")
}

// claimPoisson is for at most ⌈T/w⌉ rounds of columns with at most the largest norm, which is what the noise protects.
func (c columns) claimPoisson(a accounting.Adjacency, p participation.PoissonSampling, batches sampling.Batches,
	noise, delta float64) (Claim, error) {
	rounds := pld.Rounds{Rounds: p.Rounds(len(c)), Mechanism: pld.Mechanism{Probability: p.Probability}}
	return c.claimDraw(sampling.Poisson{Rounds: rounds, Groups: p.Groups, Batches: batches, Adjacency: a}, p.Groups, noise, delta)
}

// claimDraw is for columns with at most the largest norm.
func (c columns) claimDraw(d sampling.Draw, groups int, noise, delta float64) (Claim, error) {
	if err := c.checkBands(groups); err != nil {
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

// claimAllocation is for the blocks of the group of the fewest steps, whose columns have at most the largest norm.
func (c columns) claimAllocation(a participation.AllocationSampling, noise, delta float64) (Claim, error) {
	m, err := allocation.ForBands(len(c), a.Participations, a.Groups)
	if err != nil {
		return Claim{}, err
	}
	return c.claimDraw(m, a.Groups, noise, delta)
}

// claimBins is by Monte Carlo, from seed 0, with the accountant's own confidence.
func claimBins(ctx context.Context, c strategy.Strategy, s participation.BinsSampling,
	noise, delta float64) (Claim, error) {
	b, err := bins.New(strategy.LowerOf(c), s.Bins)
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

package benchmarks

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting/pld"
	"mafalda/factorize"
	"mafalda/participation"
	"mafalda/strategy"
)

// SampledBands are the best strategies of 1 to b bands for a workload, with Poisson sampling: w bands with w groups, of
// which records are drawn with probability w/b, so that a batch is as large as the schema's in expectation. Squared
// errors do not depend on the privacy, and noise does not depend on the workload; both are found when they are first
// needed. It is for one goroutine.
type SampledBands struct {
	gram   *mat.SymDense
	schema participation.Cyclic
	single participation.Cyclic // what bands are optimized for: columns of a group have no rows in common
	noise  SampledNoise
	gap    float64
	found  map[int]*factorize.Result
	known  map[int]float64 // squared errors that need no search
}

// NewSampledBands returns the banded strategies for the T×T Gram matrix h, certified within a relative gap; a gap of 0
// asks for the default of factorize.MeanError. It looks noise multipliers up in noise and adds new ones to it; noise
// may be nil.
func NewSampledBands(h *mat.SymDense, schema participation.Cyclic, gap float64, noise SampledNoise) (*SampledBands,
	error) {
	steps := schema.Steps()
	single, err := participation.NewCyclic(steps, 1, steps)
	if err != nil {
		return nil, err
	}
	if noise == nil {
		noise = SampledNoise{}
	}
	return &SampledBands{gram: h, schema: schema, single: single, noise: noise, gap: gap,
		found: map[int]*factorize.Result{}, known: map[int]float64{}}, nil
}

// Know takes the squared error of the best strategy of so many bands from somebody who has searched for it.
func (s *SampledBands) Know(bands int, squaredError float64) { s.known[bands] = squaredError }

// At returns what the best strategy of so many bands costs at (ε, δ); Ratio is left to the caller. The errors are those
// of the search and of SampledNoise.Multiplier, and context.Canceled.
func (s *SampledBands) At(ctx context.Context, bands int, epsilon, delta float64) (AtPrivacy, error) {
	multiplier, err := s.noise.Multiplier(s.schema, bands, epsilon, delta)
	if err != nil {
		return AtPrivacy{}, fmt.Errorf("noise for %d bands: %w", bands, err)
	}
	squaredError, known := s.known[bands]
	if !known {
		r, err := s.strategy(ctx, bands)
		if err != nil {
			return AtPrivacy{}, fmt.Errorf("%d bands: %w", bands, err)
		}
		squaredError = r.SquaredError
	}
	return AtPrivacy{Epsilon: epsilon, Delta: delta, Error: multiplier * multiplier * squaredError, Bands: bands,
		NoiseMultiplier: multiplier}, nil
}

// strategy returns the best strategy with this number of bands. The search starts from the known strategy with the next
// smaller number.
func (s *SampledBands) strategy(ctx context.Context, bands int) (*factorize.Result, error) {
	if r := s.found[bands]; r != nil {
		return r, nil
	}
	var start *mat.SymDense
	for w := bands - 1; w > 0 && start == nil; w-- {
		if r := s.found[w]; r != nil {
			start = strategy.GramOf(r.Strategy)
		}
	}
	r, err := factorize.Banded{Bandwidth: bands}.Optimize(ctx, factorize.Mean(s.gram), s.single,
		factorize.Options{Gap: s.gap, Start: start})
	if _, err := completeSearch(r, err); err != nil {
		return nil, err
	}
	s.found[bands] = r
	return r, nil
}

// Best returns the least cost at (ε, δ): of 1, 2, 4, … and b bands as far as it falls, and then of the numbers of bands
// beside the best, again as far as it falls. It fails as At does.
func (s *SampledBands) Best(ctx context.Context, epsilon, delta float64) (AtPrivacy, error) {
	best, err := s.At(ctx, 1, epsilon, delta)
	if err != nil {
		return best, err
	}
	better := func(bands int) (bool, error) {
		at, err := s.At(ctx, bands, epsilon, delta)
		if err != nil || !(at.Error < best.Error) {
			return false, err
		}
		best = at
		return true, nil
	}
	last := min(s.schema.Separation(), s.schema.Steps())
	falls := true
	for _, w := range someBands(last)[1:] {
		if falls, err = better(w); err != nil {
			return best, err
		}
		if !falls {
			break
		}
	}
	for _, way := range []int{-1, 1} {
		for falls = true; falls && best.Bands+way >= 1 && best.Bands+way <= last; {
			if falls, err = better(best.Bands + way); err != nil {
				return best, err
			}
		}
	}
	return best, nil
}

// plain is At of one band.
func (s *SampledBands) plain(ctx context.Context, epsilon, delta float64) (AtPrivacy, error) {
	return s.At(ctx, 1, epsilon, delta)
}

// someBands returns the powers of two below b, and b.
func someBands(b int) []int {
	var all []int
	for w := 1; w < b; w *= 2 {
		all = append(all, w)
	}
	return append(all, b)
}

// SampledNoise keeps the noise multipliers for bands with Poisson sampling.
type SampledNoise map[sampledLevel]float64

// sampledLevel is what a noise multiplier depends on.
type sampledLevel struct {
	steps, separation, bands int
	epsilon, delta           float64
}

// Multiplier returns the noise multiplier with which a strategy of w bands, with w groups and the probability w/b, is
// (ε, δ)-DP for T steps and the separation b of the schema. It fails as pld.Calibrate does.
func (n SampledNoise) Multiplier(schema participation.Cyclic, bands int, epsilon, delta float64) (float64, error) {
	at := sampledLevel{schema.Steps(), schema.Separation(), bands, epsilon, delta}
	if m, known := n[at]; known {
		return m, nil
	}
	sampling := participation.PoissonSampling{Groups: bands,
		Probability: float64(bands) / float64(schema.Separation())}
	p, err := pld.Calibrate(pld.Target{Probability: sampling.Probability,
		Rounds: sampling.Rounds(schema.Steps()), Epsilon: epsilon, Delta: delta})
	if err != nil {
		return 0, err
	}
	n[at] = p.NoiseMultiplier
	return p.NoiseMultiplier, nil
}

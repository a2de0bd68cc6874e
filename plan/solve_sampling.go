package plan

import (
	"context"
	"fmt"
	"math"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/bands"
	"mafalda/internal/rounding"
	"mafalda/measure"
	"mafalda/participation"
)

// poisson computes the best strategy for batches that are drawn in secret. Optimum and what is said of it are those
// under single participation, which is what the privacy of the bands is accounted for with; beside them there is the
// optimum for batches in turn, to compare with.
func (s *solver) poisson(ctx context.Context) error {
	target := s.Options.Privacy.Target
	asked := s.Options.Class.Parameters().Bandwidth
	first := max(asked, 1)
	if _, err := (bands.Noise{}).Multiplier(s.schema(), first, target.Epsilon, target.Delta); err != nil {
		return fmt.Errorf("noise for %d bands: %w", first, err) // before a large network's Gram matrix is computed
	}
	if err := s.measures(ctx); err != nil {
		return err
	}
	single, err := participation.NewCyclic(s.schema().Steps(), 1, s.schema().Steps())
	if err != nil {
		return err
	}
	s.show("cyclic optimum", 0)
	if s.Cyclic, err = s.dense(ctx, s.schema(), factorize.Options{Gap: s.bandGap()}); err != nil {
		return err
	}
	s.Optimum, err = s.dense(ctx, single, factorize.Options{Gap: s.Options.Tolerance, Progress: s.iteration})
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("optimizing: %w", err)
	}
	search, _, err := s.bandSearch(s.objective(), s.Optimum.LowerBound)
	if err != nil {
		return err
	}
	if budget := s.Options.Budget; budget != nil {
		search.AtMost(budget.Floats() + 1)
	}
	if asked > 0 {
		search.Only(asked)
	}
	s.show("bands", 0)
	if err := search.Run(ctx); err != nil {
		return fmt.Errorf("searching for the best number of bands: %w", err)
	}
	s.bands.Cost, s.OfClass = search.Best()
	for _, c := range search.Candidates() {
		s.Candidates = append(s.Candidates, Bands{Cost: c})
	}
	s.Excluded = search.Excluded()
	if ctx.Err() != nil {
		return nil
	}
	return s.judge(ctx)
}

// bandGap is the gap to which the strategies of candidates are optimized: fine enough for their numbers to be compared
// with what Verify computes, unless a coarser one was asked for.
func (s *solver) bandGap() float64 {
	return measure.CandidateGap(s.Options.Tolerance, s.schema().Steps())
}

// bandSearch returns the search for the number of bands of least error at the privacy, and the table that it fills; bound is
// one for the squared error of all strategies.
func (s *solver) bandSearch(o factorize.Objective, bound float64) (*bands.Search, *bands.Table, error) {
	t, err := bands.NewTable(o, s.schema(), bands.Options{Gap: s.bandGap()})
	if err != nil {
		return nil, nil, err
	}
	search := bands.NewSearch(t, s.Options.Privacy.Target, bound)
	search.Progress = s.counts("bands")
	return search, t, nil
}

// dense returns the dense optimum under a schema.
func (s *solver) dense(ctx context.Context, schema participation.Schema,
	opts factorize.Options) (*factorize.Result, error) {
	r, err := factorize.Dense{}.Optimize(ctx, s.objective(), schema, opts)
	if err != nil {
		return nil, fmt.Errorf("optimizing: %w", err)
	}
	return r, nil
}

// private fills in the noise for the privacy that is wanted, and what the error is with it.
func (s *solver) private() error {
	o := s.Options
	var err error
	switch {
	case o.Sampling == participation.Poisson:
		return s.privateBands()
	case o.Sampling == participation.Bins:
		return s.privateBins()
	}
	if s.Privacy, err = o.Privacy.calibrate(rounding.SqrtUp(s.Quality.Sensitivity.Squared)); err != nil {
		return err
	}
	if o.Privacy == nil || o.Privacy.Epsilon == 0 {
		return nil
	}
	s.ErrorAtPrivacy = errorAtPrivacy(s.Privacy.NoiseStd, s.Privacy.Clip, s.Quality.SquaredError)
	if _, cyclic := s.schema().(participation.Cyclic); !cyclic {
		return nil
	}
	s.Sampling = &export.Sampling{Scheme: o.Sampling.String()}
	if s.Optimum == nil || s.Space != nil || !participation.IsPartition(s.schema()) {
		return nil
	}
	s.CyclicErrorAtPrivacy = s.ErrorAtPrivacy / s.Quality.Loss * s.Optimum.Loss
	if s.Problem.Objective == Mean && o.Privacy.Adjacency == accounting.ZeroOut {
		s.DPDSGDRatio = s.plainSampled() / s.ErrorAtPrivacy
	}
	return nil
}

// plainSampled is the error at the privacy of DP-D-SGD with Poisson sampling, that is of one band, whose squared
// error is the trace of H; +Inf where there is no noise for it, or where it is not comparable.
func (s *solver) plainSampled() float64 {
	schema, target := s.schema(), s.Options.Privacy.Target
	if s.gram == nil || schema.Steps() > schema.Participations()*schema.Separation() {
		return math.Inf(1)
	}
	multiplier, err := (bands.Noise{}).Multiplier(schema, 1, target.Epsilon, target.Delta)
	if err != nil {
		return math.Inf(1)
	}
	return errorAtPrivacy(multiplier, 1, s.gram.Trace())
}

// privateBands is private under Poisson sampling.
func (s *solver) privateBands() error {
	wanted := s.Options.Privacy
	best := s.bands
	clip := wanted.clip()
	epsilon, delta := wanted.Epsilon, wanted.Delta
	s.Privacy = &export.Privacy{Epsilon: &epsilon, Delta: &delta, Clip: clip, Adjacency: wanted.Adjacency.String(),
		NoiseStd: rounding.MulUp(best.NoiseMultiplier, clip)}
	s.Sampling = &export.Sampling{Scheme: s.Options.Sampling.String(), Groups: best.Bandwidth,
		Probability: best.Probability, Rounds: best.Rounds, NoiseMultiplier: best.NoiseMultiplier, Delta: delta}
	upper, lower, err := s.Sampling.Bounds()
	if err != nil {
		return err
	}
	s.Sampling.Epsilon, s.Sampling.EpsilonLower = &upper, &lower
	for _, c := range s.Candidates {
		s.Sampling.Candidates = append(s.Sampling.Candidates, export.Candidate{Bandwidth: c.Bandwidth,
			NoiseMultiplier: c.NoiseMultiplier, ErrorAtPrivacy: c.ErrorAtPrivacy})
	}
	s.ErrorAtPrivacy = errorAtPrivacy(s.Privacy.NoiseStd, clip, best.SquaredError)
	if s.Space == nil {
		s.CyclicErrorAtPrivacy, err = cyclicError(s.Cyclic, wanted)
	}
	return err
}

// cyclicError is the error at the privacy of an optimum for batches in turn.
func cyclicError(of *factorize.Result, wanted *Privacy) (float64, error) {
	std, err := cyclicNoise(of, wanted)
	return errorAtPrivacy(std, 1, of.SquaredError), err
}

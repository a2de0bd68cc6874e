package plan

import (
	"cmp"
	"context"
	"fmt"

	"mafalda/accounting"
	"mafalda/accounting/sampling"
	"mafalda/factorize"
	"mafalda/factorize/bands"
	"mafalda/internal/fault"
	"mafalda/measure"
	"mafalda/optim"
	"mafalda/participation"
)

// poissonMode computes the best strategy for batches that are drawn in secret from as many groups as it has bands, by
// Poisson sampling or otherwise: schemes differ in the noise that bands take. Optimum and what
// is said of it are those under single participation, which is what the privacy of the bands is accounted for with;
// beside them there is the optimum for batches in turn, to compare with.
type poissonMode struct{ ordinary }

func (poissonMode) takes(_ Problem, o Options) bool {
	return o.Sampling != participation.InTurn && sampling.Of(o.Sampling).Traits().Banded
}

func (poissonMode) check(p Problem, o Options) error {
	w, b := o.Class.Parameters().Bandwidth, p.Schema.Separation()
	return cmp.Or(
		o.checkMonteCarlo(),
		o.checkDrawn(p),
		o.checkBatches(),
		fault.If(w < 0 || w > b, "Bandwidth", w, "must be from 1 to b = %d with [Sampling] %v", b, o.Sampling),
		sampling.Of(o.Sampling).Check(p.Schema),
		o.checkDrawnPrivacy(),
	)
}

func (poissonMode) needs(j *job) Resources {
	return j.need(matricesOfSearch, 1, poissonTime(j.schema().Steps()))
}

func poissonTime(steps int) float64 { return 10*denseTime(steps) + 5e9 }

func (poissonMode) solve(ctx context.Context, s *job) error {
	return runSteps(ctx, s.checkNoise, s.measures, s.cyclicOptimum, s.singleOptimum, s.bestNumberOfBands, s.judge,
		s.setPoissonQuality, s.setPoissonNoise, s.boundSecret, s.compareCyclic, s.comparePlain)
}

// checkNoise finds out, before a large network's Gram matrix is computed, whether there is noise for the privacy.
func (s *job) checkNoise(context.Context) error {
	first := max(s.Options.Class.Parameters().Bandwidth, 1)
	if _, err := s.drawnNoise(first, s.Options.Privacy.Target); err != nil {
		return fmt.Errorf("noise for %d bands: %w", first, err)
	}
	return nil
}

// cyclicOptimum computes the dense optimum for batches in turn.
func (s *job) cyclicOptimum(ctx context.Context) (err error) {
	s.show("cyclic optimum", 0)
	s.Cyclic, err = s.dense(ctx, s.schema(), factorize.Options{Gap: s.bandGap()})
	return err
}

// singleOptimum computes the dense optimum for single participation.
func (s *job) singleOptimum(ctx context.Context) (err error) {
	s.Optimum, err = s.wholeOptimum(ctx, participation.Single(s.schema()), s.Options.Tolerance)
	return err
}

// wholeOptimum returns the dense optimum under a schema, of which half is none: an end of ctx is an error.
func (s *job) wholeOptimum(ctx context.Context, schema participation.Schema, gap float64) (*factorize.Result, error) {
	r, err := s.dense(ctx, schema, factorize.Options{Gap: gap, Progress: s.iteration})
	if ended := ctx.Err(); err == nil && ended != nil {
		err = fmt.Errorf("optimizing: %w", ended)
	}
	return r, err
}

// bestNumberOfBands searches for the number of bands of least error at the privacy, unless one was asked for.
func (s *job) bestNumberOfBands(ctx context.Context) error {
	search, _ := s.bandSearch(s.objective(), s.Optimum.LowerBound)
	if budget := s.Options.Budget; budget != nil {
		search.AtMost(budget.Floats() + 1)
	}
	if asked := s.Options.Class.Parameters().Bandwidth; asked > 0 {
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
	return nil
}

func (s *job) setPoissonQuality(ctx context.Context) error {
	s.Quality, s.LowerBound = s.OfClass.Quality, s.Optimum.LowerBound
	s.Ending = endingOf(ctx, s.Optimum, s.OfClass)
	return nil
}

// compareCyclic fills in the error at the privacy of the optimum for batches in turn.
func (s *job) compareCyclic(context.Context) (err error) {
	s.CyclicErrorAtPrivacy, err = cyclicError(s.Cyclic, s.Options.Privacy)
	return err
}

// bandGap is the gap to which the strategies of candidates are optimized: fine enough for their numbers to be compared
// with what Verify computes, unless a coarser one was asked for.
func (s *job) bandGap() float64 { return measure.CandidateGap(s.Options.Tolerance, s.schema().Steps()) }

// bandSearch returns the search for the number of bands of least error at the privacy, and the table that it fills;
// bound is one for the squared error of all strategies.
func (s *job) bandSearch(o factorize.Objective, bound float64) (*bands.Search, *bands.Table) {
	t := bands.NewTable(o, s.schema(), bands.Options{Gap: s.bandGap(), Sampling: s.Options.drawn()})
	search := bands.NewSearch(t, s.Options.Privacy.Target, bound)
	search.Progress = s.counts("bands")
	return search, t
}

// dense returns the dense optimum under a schema, unless it is known as finely.
func (s *job) dense(ctx context.Context, schema participation.Schema,
	opts factorize.Options) (*factorize.Result, error) {
	key := fmt.Sprint(schema)
	if known := s.optima[key]; known != nil && known.Gap <= opts.Gap {
		return known, nil
	}
	r, err := factorize.Dense{}.Optimize(ctx, s.objective(), schema, opts)
	if err != nil {
		return nil, fmt.Errorf("optimizing: %w", err)
	}
	if s.optima != nil && r.Status == optim.Converged {
		s.optima[key] = r
	}
	return r, nil
}

// drawn is how batches are drawn in secret, for the accountant.
func (o Options) drawn() sampling.Scheme {
	return sampling.Scheme{Of: o.Sampling, Adjacency: o.Privacy.Adjacency, Batches: o.Batches}
}

// drawnNoise returns the noise multiplier of w bands.
func (s *job) drawnNoise(w int, target accounting.Target) (float64, error) {
	return bands.Noise{}.MultiplierUnder(s.Options.drawn(), s.schema(), w, target.Epsilon, target.Delta)
}

// setPoissonNoise fills in the noise of the best bands.
func (s *job) setPoissonNoise(context.Context) error {
	s.setDrawnNoise(s.bands.Bandwidth)
	if !sampling.Of(s.Options.Sampling).Traits().Independent {
		s.DPDSGDRatio = s.plainSampled() / s.ErrorAtPrivacy
	}
	return s.Sampling.Account(s.schema().Steps(), s.Options.Privacy.Adjacency)
}

// cyclicError is the error at the privacy of an optimum for batches in turn.
func cyclicError(of *factorize.Result, wanted *Privacy) (float64, error) {
	std, err := cyclicNoise(of, wanted)
	return measure.ErrorAtPrivacy(std, of.SquaredError), err
}

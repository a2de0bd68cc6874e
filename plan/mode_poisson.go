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
	if err := cmp.Or(o.checkMonteCarlo(), o.checkDrawn(p), o.checkBatches()); err != nil {
		return err
	}
	if w, b := o.Class.Parameters().Bandwidth, p.Schema.Separation(); w < 0 || w > b {
		return fault.New("Bandwidth", w, "must be from 1 to b = %d with [Sampling] %v", b, o.Sampling)
	}
	return cmp.Or(sampling.Of(o.Sampling).Check(p.Schema), o.checkDrawnPrivacy())
}

func (poissonMode) needs(j *job) Resources {
	return j.need(matricesOfSearch, 1, poissonTime(j.schema().Steps()))
}

func poissonTime(steps int) float64 { return 10*denseTime(steps) + 5e9 }

func (poissonMode) solve(ctx context.Context, s *job) error {
	target := s.Options.Privacy.Target
	asked := s.Options.Class.Parameters().Bandwidth
	first := max(asked, 1)
	if _, err := s.drawnNoise(first, target); err != nil {
		return fmt.Errorf("noise for %d bands: %w", first, err) // before a large network's Gram matrix is computed
	}
	if err := s.measures(ctx); err != nil {
		return err
	}
	s.show("cyclic optimum", 0)
	var err error
	if s.Cyclic, err = s.dense(ctx, s.schema(), factorize.Options{Gap: s.bandGap()}); err != nil {
		return err
	}
	s.Optimum, err = s.dense(ctx, participation.Single(s.schema()), factorize.Options{Gap: s.Options.Tolerance, Progress: s.iteration})
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("optimizing: %w", err)
	}
	search, _ := s.bandSearch(s.objective(), s.Optimum.LowerBound)
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
	if err := s.judge(ctx); err != nil {
		return err
	}
	s.Quality, s.LowerBound = s.OfClass.Quality, s.Optimum.LowerBound
	s.Ending = endingOf(ctx, s.Optimum, s.OfClass)
	if err := s.setPoissonNoise(); err != nil {
		return err
	}
	if sampling.Of(s.Options.Sampling).Traits().Independent {
		if err := s.boundSecret(ctx, func(of *measure.SecretBounds) (float64, error) {
			return of.Poisson(ctx, s.Sampling.Groups, target.Epsilon, target.Delta+s.Sampling.Overflow)
		}); err != nil {
			return err
		}
	}
	if s.CyclicErrorAtPrivacy, err = cyclicError(s.Cyclic, s.Options.Privacy); err != nil {
		return err
	}
	return s.comparePlain(ctx)
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
func (s *job) setPoissonNoise() error {
	s.setDrawnNoise(s.bands.Bandwidth)
	if !sampling.Of(s.Options.Sampling).Traits().Independent {
		s.DPDSGDRatio = s.plainSampled() / s.ErrorAtPrivacy
	}
	return s.Sampling.Account(s.schema().Steps(), s.Options.Privacy.Adjacency)
}

// cyclicError is the error at the privacy of an optimum for batches in turn.
func cyclicError(of *factorize.Result, wanted *Privacy) (float64, error) {
	std, err := cyclicNoise(of, wanted)
	return errorAtPrivacy(std, 1, of.SquaredError), err
}

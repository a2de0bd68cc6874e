package plan

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"mafalda/accounting/bins"
	"mafalda/factorize"
	"mafalda/factorize/bands"
	"mafalda/internal/fault"
	"mafalda/measure"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// binsMode looks for the best strategy for random bins, among those without negative entries: bands and the dense one
// that are the best for a known draw, and one that is optimized for the accountant itself (OptimizeForBins). All are
// local optima, without a certificate; the optimum, the bound and the loss beside them are those for batches in turn.
type binsMode struct{ ordinary }

func (binsMode) takes(_ Problem, o Options) bool { return o.Sampling == participation.Bins }

func (binsMode) check(p Problem, o Options) error {
	if err := cmp.Or(o.checkMonteCarlo(), o.checkDrawn(p)); err != nil {
		return err
	}
	if steps := p.Schema.Steps(); steps > strategy.LongSteps {
		return fault.New("Steps", steps, "must be at most %d with [Sampling] %v", strategy.LongSteps, o.Sampling)
	}
	if err := o.checkDrawnPrivacy(); err != nil {
		return err
	}
	return bins.CheckDelta(o.Privacy.Delta)
}

func (binsMode) needs(j *job) Resources {
	b, samples := float64(j.schema().Separation()), float64(j.Options.MonteCarlo.Filled().Samples)
	return j.need(matricesOfSearch, 1, 40*denseTime(j.schema().Steps())+2e-1*samples*(b*b+100))
}

func (binsMode) solve(ctx context.Context, s *job) error {
	if err := s.measures(ctx); err != nil {
		return err
	}
	s.show("cyclic optimum", 0)
	var err error
	s.Optimum, err = factorize.Dense{}.Optimize(ctx, s.objective(), s.schema(),
		factorize.Options{Gap: s.bandGap(), Progress: s.iteration})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("optimizing: %w", err)
	}
	s.Cyclic = s.Optimum
	search := newBinSearch(s)
	if err := search.run(ctx); err != nil && !(search.best != nil && isEnd(err)) {
		return fmt.Errorf("searching for the best strategy without negative entries: %w", err)
	}
	s.OfClass, s.bands, s.Candidates = search.best, search.of, search.all
	if ctx.Err() == nil {
		if err := s.judge(ctx); err != nil {
			return err
		}
	}
	s.Quality, s.LowerBound = s.OfClass.Quality, s.Optimum.LowerBound // the loss is not what the strategy is for: no gap
	s.Ending = endingOf(ctx, s.Optimum)
	if err := s.setBinsNoise(); err != nil {
		return err
	}
	if ctx.Err() == nil {
		s.show("lower bound", 0)
		target := s.Options.Privacy.Target
		bound, err := measure.NewSecretBounds(s.gram, s.schema(), s.Cyclic, s.bandGap()).Bins(target.Epsilon, target.Delta)
		if err := s.setSecretBound(bound, err); err != nil {
			return err
		}
	}
	return s.comparePlain(ctx)
}

// binSearch compares candidates.
type binSearch struct {
	*job
	widths []int           // of the candidates for a known draw, T for dense
	share  bins.MonteCarlo // of a candidate: all hold together with the confidence that was asked for
	done   int             // parts of the work
	all    []Bands
	best   *factorize.Result
	of     Bands // of best
}

// searchParts is about how many reports a search for the accountant makes.
const searchParts = 20

func newBinSearch(s *job) *binSearch {
	steps, b := s.schema().Steps(), s.schema().Separation()
	search := &binSearch{job: s, share: s.Options.MonteCarlo.Filled()}
	if w := s.Options.Class.Parameters().Bandwidth; w > 0 {
		search.widths = []int{w}
	} else {
		for w := 1; w <= b && w < steps; w *= 2 {
			search.widths = append(search.widths, w)
		}
		search.widths = append(search.widths, steps)
	}
	search.share.Failure /= float64(len(search.widths) + 1)
	return search
}

// progress reports one part more.
func (s *binSearch) progress() {
	all := len(s.widths) + searchParts
	s.show("strategies without negative entries", float64(min(s.done, all-1))/float64(all))
	s.done++
}

// class returns the strategies of so many bands.
func (s *binSearch) class(width int) factorize.Bins {
	if width == s.schema().Steps() {
		width = 0
	}
	return factorize.Bins{Number: s.schema().Separation(), Bandwidth: width}
}

// run looks at all candidates. When ctx ends it keeps the candidates so far and returns the context's error.
func (s *binSearch) run(ctx context.Context) error {
	target := s.Options.Privacy.Target
	for _, w := range s.widths {
		s.progress()
		c, ended, err := s.class(w).Minimize(ctx, s.gram, nil, nil, factorize.Options{})
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		privacy, err := CalibrateBins(ctx, c, s.schema().Separation(), target.Epsilon, target.Delta, s.share)
		if err != nil {
			return err
		}
		of := Bands{Cost: bands.Cost{Bandwidth: w}, For: participation.InTurn, Privacy: privacy}
		if err := s.consider(c, of, ended.Iterations); err != nil {
			return err
		}
	}
	w := s.widths[len(s.widths)-1]
	found, err := OptimizeForBins(ctx, s.gram, s.schema(), BinsOptions{Bandwidth: s.class(w).Bandwidth,
		Epsilon: target.Epsilon, Delta: target.Delta, MonteCarlo: s.share,
		Progress: func(factorize.Iteration) { s.progress() }})
	if err != nil {
		return err
	}
	of := Bands{Cost: bands.Cost{Bandwidth: w}, For: participation.Bins, Privacy: found.Privacy}
	return s.consider(found.Strategy, of, found.Iterations)
}

// consider completes a candidate, and takes it if it is the best.
func (s *binSearch) consider(c strategy.Strategy, of Bands, iterations int) error {
	q, err := factorize.Evaluate(c, s.objective(), s.schema())
	if err != nil {
		return err
	}
	of.Probability, of.Rounds, of.SquaredError = 1, s.schema().Participations(), q.SquaredError
	of.NoiseMultiplier = of.Privacy.NoiseMultiplier
	of.ErrorAtPrivacy = errorAtPrivacy(of.NoiseMultiplier, 1, q.SquaredError)
	s.all = append(s.all, of)
	if s.best == nil || of.ErrorAtPrivacy < s.of.ErrorAtPrivacy {
		s.best = &factorize.Result{Strategy: c, Quality: q, Iterations: iterations, Status: optim.Converged}
		s.of = of
	}
	return nil
}

// setBinsNoise fills in the noise under random bins.
func (s *job) setBinsNoise() error {
	s.setDrawnNoise(s.schema().Separation())
	best, asked := s.bands, s.Options.MonteCarlo.Filled()
	epsilon, seed := s.Options.Privacy.Epsilon, asked.Seed
	of := s.Sampling
	of.Epsilon, of.Failure, of.Samples, of.Seed = &epsilon, asked.Failure, asked.Samples, &seed
	of.Confirmations, of.NoiseMultiplierEstimate = best.Privacy.Rounds, best.Privacy.Estimated
	of.ConfirmedDelta = math.Min(best.Privacy.Confirmed.Upper, of.Delta)
	if of.Confirmations == 0 { // no samples were needed
		of.Failure, of.Samples, of.Seed, of.NoiseMultiplierEstimate = 0, 0, nil, 0
	}
	if planned := len(newBinSearch(s).widths) + 1; len(s.Candidates) < planned { // it was interrupted
		of.Failure *= float64(len(s.Candidates)) / float64(planned)
	}
	for i, c := range s.Candidates {
		of.Candidates[i].OptimizedFor = c.For.String()
	}
	s.DPDSGDRatio = s.plainSampled() / s.ErrorAtPrivacy
	var err error
	s.CyclicErrorAtPrivacy, err = cyclicError(s.Cyclic, s.Options.Privacy)
	return err
}

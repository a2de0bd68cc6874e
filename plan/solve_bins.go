package plan

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting/bins"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/internal/rounding"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// binned looks for the best strategy for random bins, among those without negative entries: bands and the dense one that
// are the best for a known draw, and one that is optimized for the accountant itself. All are local optima, without a
// certificate; the optimum, the bound and the loss beside them are those for batches in turn.
func (s *solver) binned(ctx context.Context) error {
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
	if ctx.Err() != nil {
		return nil
	}
	return s.judge(ctx)
}

// binSearch compares candidates.
type binSearch struct {
	*solver
	widths []int           // of the candidates for a known draw, T for dense
	share  bins.MonteCarlo // of a candidate: all hold together with the confidence that was asked for
	done   int             // parts of the work
	all    []Bands
	best   *factorize.Result
	of     Bands // of best
}

// searchParts is about how many reports a search for the accountant makes.
const searchParts = 20

func newBinSearch(s *solver) *binSearch {
	steps, b := s.schema().Steps(), s.schema().Separation()
	search := &binSearch{solver: s, share: s.Options.MonteCarlo.Filled()}
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
func (s *binSearch) class(bands int) factorize.Bins {
	if bands == s.schema().Steps() {
		bands = 0
	}
	return factorize.Bins{Number: s.schema().Separation(), Bandwidth: bands}
}

// run looks at all candidates. When ctx ends it keeps the candidates so far and returns the context's error.
func (s *binSearch) run(ctx context.Context) error {
	for _, w := range s.widths {
		s.progress()
		c, ended, err := s.class(w).Minimize(ctx, s.gram, nil, nil, factorize.Options{})
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		privacy, err := s.calibrate(ctx, c)
		if err != nil {
			return err
		}
		of := Bands{Bandwidth: w, For: participation.InTurn, Privacy: privacy}
		if err := s.consider(c, of, ended.Iterations); err != nil {
			return err
		}
	}
	w := s.widths[len(s.widths)-1]
	target := s.Options.Privacy.Target
	found, err := s.class(w).Optimize(ctx, s.gram, factorize.BinsOptions{Epsilon: target.Epsilon, Delta: target.Delta,
		MonteCarlo: s.share, Progress: func(factorize.Iteration) { s.progress() }})
	if err != nil {
		return err
	}
	return s.consider(found.Strategy, Bands{Bandwidth: w, For: participation.Bins, Privacy: found.Privacy},
		found.Iterations)
}

// calibrate returns the noise for a strategy.
func (s *binSearch) calibrate(ctx context.Context, c strategy.Strategy) (bins.Privacy, error) {
	var lower mat.TriDense
	c.StrategyTo(&lower)
	b, err := bins.New(&lower, s.schema().Separation())
	if err != nil {
		return bins.Privacy{}, err
	}
	target := s.Options.Privacy.Target
	return b.NoiseMultiplier(ctx, target.Epsilon, target.Delta, s.share)
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

// privateBins is private under random bins.
func (s *solver) privateBins() error {
	wanted, best := s.Options.Privacy, s.bands
	clip, seed := wanted.clip(), s.Options.MonteCarlo.Seed
	epsilon, delta := wanted.Epsilon, wanted.Delta
	s.Privacy = &export.Privacy{Epsilon: &epsilon, Delta: &delta, Clip: clip, Adjacency: wanted.Adjacency.String(),
		NoiseStd: rounding.MulUp(best.NoiseMultiplier, clip)}
	asked := s.Options.MonteCarlo.Filled()
	s.Sampling = &export.Sampling{Scheme: s.Options.Sampling.String(), Groups: s.schema().Separation(),
		Probability: best.Probability, Rounds: best.Rounds, NoiseMultiplier: best.NoiseMultiplier, Epsilon: &epsilon,
		Delta: delta, Failure: asked.Failure, Samples: asked.Samples, Seed: &seed, Confirmations: best.Privacy.Rounds,
		ConfirmedDelta: math.Min(best.Privacy.Confirmed.Upper, delta), NoiseMultiplierEstimate: best.Privacy.Estimated}
	if planned := len(newBinSearch(s).widths) + 1; len(s.Candidates) < planned { // it was interrupted
		s.Sampling.Failure *= float64(len(s.Candidates)) / float64(planned)
	}
	for _, c := range s.Candidates {
		s.Sampling.Candidates = append(s.Sampling.Candidates, export.Candidate{Bandwidth: c.Bandwidth,
			NoiseMultiplier: c.NoiseMultiplier, ErrorAtPrivacy: c.ErrorAtPrivacy, OptimizedFor: c.For.String()})
	}
	s.ErrorAtPrivacy = errorAtPrivacy(s.Privacy.NoiseStd, clip, best.SquaredError)
	s.DPDSGDRatio = s.plainSampled() / s.ErrorAtPrivacy
	var err error
	s.CyclicErrorAtPrivacy, err = cyclicError(s.Cyclic, wanted)
	return err
}

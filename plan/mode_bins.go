package plan

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

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
	return fault.First(o.checkMonteCarlo, func() error { return o.checkDrawn(p) }, o.checkDrawnPrivacy,
		func() error { return bins.CheckDelta(o.Privacy.Delta) })
}

func (binsMode) needs(j *job) Resources {
	b, samples := float64(j.schema().Separation()), float64(j.Options.MonteCarlo.Filled().Samples)
	return j.need(matricesOfSearch, 1, 40*denseTime(j.schema().Steps())+2e-1*samples*(b*b+100))
}

func (binsMode) solve(ctx context.Context, s *job) error {
	return runSteps(ctx, s.measures, s.knownDraw, s.searchBins, s.judge, s.setBinsQuality, s.setBinsNoise, s.compareCyclic,
		s.boundSecret, s.comparePlain)
}

// knownDraw computes the dense optimum for a draw that is known.
func (s *job) knownDraw(ctx context.Context) (err error) {
	s.Optimum, err = s.wholeOptimum(ctx, s.schema(), s.bandGap())
	s.Cyclic = s.Optimum
	return err
}

// searchBins compares the candidates.
func (s *job) searchBins(ctx context.Context) error {
	search := newBinSearch(s)
	if err := search.run(ctx); err != nil && !(search.best != nil && isEnd(err)) {
		return fmt.Errorf("searching for the best strategy without negative entries: %w", err)
	}
	s.OfClass, s.bands, s.Candidates = search.best, search.of, search.all
	return nil
}

func (s *job) setBinsQuality(ctx context.Context) error {
	s.Quality, s.LowerBound = s.OfClass.Quality, s.Optimum.LowerBound
	s.Ending = endingOf(ctx, s.Optimum)
	return nil
}

// binSearch compares candidates.
type binSearch struct {
	*job
	widths []int           // numbers of bands of the candidates for a known draw, T for dense
	share  bins.MonteCarlo // samples and failure of one candidate: all hold together with the confidence that was asked for
	done   int             // parts of the work
	all    []Bands
	best   *factorize.Result
	of     Bands // what best costs
}

// searchParts is about how many reports a search for the accountant makes, named searchPhase.
const (
	searchParts = 20
	searchPhase = "best strategy for bins: the noise of some 30 trials, by samples"
)

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

// progress reports one part more, by the name of what it does.
func (s *binSearch) progress(phase string) {
	all := len(s.widths) + searchParts
	s.show(phase, float64(min(s.done, all-1))/float64(all))
	s.done++
}

// run looks at all candidates. When ctx ends it keeps the candidates so far and returns the context's error.
func (s *binSearch) run(ctx context.Context) error {
	steps, b, target := s.schema().Steps(), s.schema().Separation(), s.Options.Privacy.Target
	for _, w := range s.widths {
		s.progress(fmt.Sprintf("%d bands: strategy, and its noise by samples", w))
		c, ended, err := factorize.Bins{Number: b, Bandwidth: w % steps}.Minimize(ctx, s.gram, nil, nil, factorize.Options{})
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		privacy, err := CalibrateBins(ctx, c, b, target.Epsilon, target.Delta, s.share)
		if err != nil {
			return err
		}
		if err := s.consider(BinsResult{c, privacy, ended.Iterations}, w, participation.InTurn); err != nil {
			return err
		}
	}
	w := s.widths[len(s.widths)-1]
	s.progress(searchPhase)
	found, err := OptimizeForBins(ctx, s.gram, s.schema(), BinsOptions{Bandwidth: w % steps, Epsilon: target.Epsilon, Delta: target.Delta,
		MonteCarlo: s.share, Progress: func() { s.progress(searchPhase) }})
	if err != nil {
		return err
	}
	return s.consider(*found, w, participation.Bins)
}

// consider completes a candidate, and takes it if it is the best.
func (s *binSearch) consider(r BinsResult, bandwidth int, optimizedFor participation.Scheme) error {
	q, err := factorize.Evaluate(r.Strategy, s.objective(), s.schema())
	if err != nil {
		return err
	}
	of := Bands{For: optimizedFor, Privacy: r.Privacy, Cost: bands.Cost{Bandwidth: bandwidth, Probability: 1,
		Rounds: s.schema().Participations(), SquaredError: q.SquaredError, NoiseMultiplier: r.Privacy.NoiseMultiplier,
		ErrorAtPrivacy: measure.ErrorAtPrivacy(r.Privacy.NoiseMultiplier, q.SquaredError)}}
	s.all = append(s.all, of)
	if s.best == nil || of.ErrorAtPrivacy < s.of.ErrorAtPrivacy {
		s.best = &factorize.Result{Strategy: r.Strategy, Quality: q, Iterations: r.Iterations, Status: optim.Converged}
		s.of = of
	}
	return nil
}

// setBinsNoise fills in the noise under random bins.
func (s *job) setBinsNoise(context.Context) error {
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
	return nil
}

// BinsOptions are what OptimizeForBins is asked for.
type BinsOptions struct {
	Bandwidth      int // bands; 0 means T: dense
	Epsilon, Delta float64
	MonteCarlo     bins.MonteCarlo // samples of the final calibration
	Rounds         int             // rounds of tangent and descent; 0 means 12, negative is none: blends only
	Progress       func()          // if not nil, is called for every strategy that is looked at
}

// BinsResult is the end of a search.
type BinsResult struct {
	Strategy   strategy.Strategy // the largest |m_j| is 1
	Privacy    bins.Privacy      // noise multiplier included, confirmed
	Iterations int               // iterations of all descents together
}

// What the search does, and when it has enough.
const (
	searchShare = 4    // samples of a tangent: the calibration's over this
	descent     = 60   // iterations of L-BFGS a round
	binsRounds  = 12   // unless others are asked for
	worthwhile  = 1e-3 // relative decrease that another round has to have brought
)

// OptimizeForBins looks for the strategy without negative entries of the least error at the (ε, δ) that random bins
// give, as many of them as the schema has steps between participations: ν²·tr(C⁻ᵀHC⁻¹), with the noise multiplier ν
// that bins.Mechanism asks for. To first order ν² = ⟨V, G⟩, V ∝ E[p pᵀ | L = ε] with p the posterior over the bins, so that the
// strategy that is best under this accountant minimizes tr(C⁻ᵀHC⁻¹)·⟨V, G⟩ for its own V. It descends for weights between two extremes (factorize.Bins.Blend), and then, from
// the best of these, for the weights of the accountant's own tangent at the strategy reached
// (bins.Mechanism.Tangent), going only as far as the estimated error falls. The result is a local optimum without a
// certificate; its privacy is confirmed by samples that had no part in the search.
//
// When ctx ends first the result is nil, since noise needs a calibration, and the error is the context's. It also fails
// as factorize.Bins.Minimize and CalibrateBins do.
func OptimizeForBins(ctx context.Context, h *mat.SymDense, schema participation.Schema, o BinsOptions) (*BinsResult, error) {
	if err := fault.Positive("Epsilon", o.Epsilon); err != nil {
		return nil, err
	}
	s := &binsDescent{class: factorize.Bins{Number: schema.Separation(), Bandwidth: o.Bandwidth}, gram: h, schema: schema, options: o}
	err := s.blends(ctx, []float64{0, 0.4, 0.7, 0.85, 0.93, 0.97}, func(_ float64, c *mat.TriDense) error { return s.consider(ctx, c) })
	if err == nil {
		err = s.improve(ctx)
	}
	if err != nil {
		return nil, err
	}
	found, err := s.normalized(s.best.c)
	if err != nil {
		return nil, err
	}
	r := &BinsResult{Strategy: found.Strategy, Iterations: s.iterations}
	r.Privacy, err = found.NoiseMultiplier(ctx, o.Epsilon, o.Delta, o.MonteCarlo)
	return r, err
}

// CalibrateBins returns the noise of a strategy for this number of random bins. It fails as bins.New and
// bins.Mechanism.NoiseMultiplier do.
func CalibrateBins(ctx context.Context, c strategy.Strategy, number int, epsilon, delta float64,
	o bins.MonteCarlo) (bins.Privacy, error) {
	b, err := bins.New(strategy.LowerOf(c), number)
	if err != nil {
		return bins.Privacy{}, err
	}
	return b.NoiseMultiplier(ctx, epsilon, delta, o)
}

// binsDescent is the state of one search.
type binsDescent struct {
	class      factorize.Bins
	gram       *mat.SymDense
	schema     participation.Schema
	options    BinsOptions
	best       *binsCandidate
	iterations int
}

// binsCandidate is a strategy of the class.
type binsCandidate struct {
	strategy.Strategy
	*bins.Mechanism
	factorize.Quality

	c       *mat.TriDense
	tangent *bins.Tangent // nil before estimate
}

// estimate fills in the tangent, by samples that all candidates have in common, and returns the error.
func (c *binsCandidate) estimate(ctx context.Context, epsilon, delta float64, o bins.MonteCarlo) (e float64, err error) {
	if c.tangent, err = c.Tangent(ctx, epsilon, delta, o); err != nil {
		return 0, err
	}
	return c.error(), nil
}

func (c *binsCandidate) error() float64 {
	return measure.ErrorAtPrivacy(c.tangent.NoiseMultiplier, c.SquaredError)
}

// descend minimizes for weights, from start.
func (s *binsDescent) descend(ctx context.Context, weights *mat.SymDense, start mat.Matrix, limit int) (*mat.TriDense, error) {
	found, ended, err := s.class.Minimize(ctx, s.gram, weights, start, factorize.Options{MaxIterations: limit})
	s.iterations += ended.Iterations
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	var c mat.TriDense
	found.StrategyTo(&c)
	return &c, nil
}

// candidate returns the candidate of a matrix of the class.
func (s *binsDescent) candidate(c *mat.TriDense) (found *binsCandidate, err error) {
	found = &binsCandidate{c: c}
	if w := s.class.Bandwidth; w > 0 && w < s.schema.Steps() {
		found.Strategy, err = strategy.NewBanded(c, w)
	} else {
		found.Strategy, err = strategy.NewDense(c)
	}
	if err != nil {
		return nil, err
	}
	if found.Quality, err = factorize.Evaluate(found.Strategy, factorize.Mean(s.gram), s.schema); err != nil {
		return nil, err
	}
	found.Mechanism, err = bins.New(c, s.class.Number)
	return found, err
}

// consider takes a matrix if its estimated error is the least, and reports it.
func (s *binsDescent) consider(ctx context.Context, c *mat.TriDense) error {
	found, err := s.candidate(c)
	if err != nil {
		return err
	}
	o := s.options
	e, err := found.estimate(ctx, o.Epsilon, o.Delta, bins.MonteCarlo{Seed: o.MonteCarlo.Seed,
		Samples: max(cmp.Or(o.MonteCarlo.Samples, 1<<19)/searchShare, 1024)})
	if err != nil {
		return err
	}
	if s.best == nil || e < s.best.error() {
		s.best = found
	}
	if o.Progress != nil {
		o.Progress()
	}
	return nil
}

// blends finds the strategies for some Blends, each from the one before, and hands them on.
func (s *binsDescent) blends(ctx context.Context, lambdas []float64, take func(lambda float64, c *mat.TriDense) error) error {
	var start mat.Matrix
	for _, lambda := range lambdas {
		c, err := s.descend(ctx, s.class.Blend(lambda), start, 0)
		if err != nil {
			return err
		}
		if err := take(lambda, c); err != nil {
			return err
		}
		start = c
	}
	return nil
}

// improve goes towards the optimum for the tangent's weights, as far as that is one.
func (s *binsDescent) improve(ctx context.Context) error {
	for range cmp.Or(s.options.Rounds, binsRounds) {
		before := s.best
		c, err := s.descend(ctx, before.tangent.Weights, before.c, descent)
		if err != nil {
			return err
		}
		c.ScaleTri(before.tangent.NoiseMultiplier, c) // to ⟨weights, G⟩ = ν², as before
		for step := 1.0; step > 0.05 && s.best == before; step /= 2 {
			between := mat.NewTriDense(s.schema.Steps(), mat.Lower, nil)
			for t := range s.schema.Steps() {
				for i := range t + 1 {
					between.SetTri(t, i, (1-step)*before.c.At(t, i)+step*c.At(t, i))
				}
			}
			if err := s.consider(ctx, between); err != nil {
				return err
			}
		}
		if s.best.error() > before.error()*(1-worthwhile) {
			return nil
		}
	}
	return nil
}

// normalized returns the candidate of a matrix over its largest |m_j|.
func (s *binsDescent) normalized(c *mat.TriDense) (*binsCandidate, error) {
	steps, largest := s.schema.Steps(), 0.0
	for j := range s.class.Number {
		sum := make([]float64, steps)
		for column := j; column < steps; column += s.class.Number {
			for t := column; t < steps; t++ {
				sum[t] += c.At(t, column)
			}
		}
		largest = math.Max(largest, floats.Norm(sum, 2))
	}
	scaled := mat.NewTriDense(steps, mat.Lower, nil)
	for t := range steps {
		for column := range t + 1 {
			scaled.SetTri(t, column, c.At(t, column)/largest)
		}
	}
	return s.candidate(scaled)
}

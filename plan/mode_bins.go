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

// knownDraw computes the dense optimum for a draw that is known. Half of it is none.
func (s *job) knownDraw(ctx context.Context) (err error) {
	s.show("cyclic optimum", 0)
	s.Optimum, err = s.dense(ctx, s.schema(), factorize.Options{Gap: s.bandGap(), Progress: s.iteration})
	if ended := ctx.Err(); err == nil && ended != nil {
		err = fmt.Errorf("optimizing: %w", ended)
	}
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

// class returns the strategies with this number of bands.
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
		s.progress(fmt.Sprintf("%d bands: strategy, and its noise by samples", w))
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
	s.progress(searchPhase)
	found, err := OptimizeForBins(ctx, s.gram, s.schema(), BinsOptions{Bandwidth: s.class(w).Bandwidth,
		Epsilon: target.Epsilon, Delta: target.Delta, MonteCarlo: s.share,
		Progress: func(factorize.Iteration) { s.progress(searchPhase) }})
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
	of.ErrorAtPrivacy = measure.ErrorAtPrivacy(of.NoiseMultiplier, q.SquaredError)
	s.all = append(s.all, of)
	if s.best == nil || of.ErrorAtPrivacy < s.of.ErrorAtPrivacy {
		s.best = &factorize.Result{Strategy: c, Quality: q, Iterations: iterations, Status: optim.Converged}
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
	MonteCarlo     bins.MonteCarlo    // samples of the final calibration
	Rounds         int                // rounds of tangent and descent; 0 means 12, negative is none: blends only
	Progress       factorize.Progress // if not nil, sees every round: Loss is the estimated error at this privacy
}

// BinsResult is the end of a search.
type BinsResult struct {
	Strategy       strategy.Strategy // the largest |m_j| is 1
	SquaredError   float64           // tr(C⁻ᵀHC⁻¹)
	Privacy        bins.Privacy      // noise multiplier included, confirmed
	ErrorAtPrivacy float64           // ν²·SquaredError, which is what strategies are compared by
	Iterations     int               // iterations of all descents together
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
func OptimizeForBins(ctx context.Context, h *mat.SymDense, schema participation.Schema,
	o BinsOptions) (*BinsResult, error) {
	if err := fault.Positive("Epsilon", o.Epsilon); err != nil {
		return nil, err
	}
	s := &binsDescent{class: factorize.Bins{Number: schema.Separation(), Bandwidth: o.Bandwidth}, gram: h, schema: schema,
		options: o}
	if err := s.blends(ctx); err != nil {
		return nil, err
	}
	if err := s.improve(ctx); err != nil {
		return nil, err
	}
	return s.result(ctx)
}

// CalibrateBins returns the noise of a strategy for this number of random bins. It fails as bins.New and
// bins.Mechanism.NoiseMultiplier do.
func CalibrateBins(ctx context.Context, c strategy.Strategy, number int, epsilon, delta float64,
	o bins.MonteCarlo) (bins.Privacy, error) {
	var lower mat.TriDense
	c.StrategyTo(&lower)
	b, err := bins.New(&lower, number)
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
	best       *candidate
	iterations int
}

// candidate is a strategy with what it costs, by estimate.
type candidate struct {
	c       *mat.TriDense
	squared float64
	tangent *bins.Tangent
}

func (c *candidate) error() float64 {
	return measure.ErrorAtPrivacy(c.tangent.NoiseMultiplier, c.squared)
}

// descend minimizes for weights, from start.
func (s *binsDescent) descend(ctx context.Context, weights *mat.SymDense, start mat.Matrix,
	limit int) (*mat.TriDense, error) {
	found, ended, err := s.class.Minimize(ctx, s.gram, weights, start, factorize.Options{MaxIterations: limit})
	s.iterations += ended.Iterations
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	var c mat.TriDense
	found.StrategyTo(&c)
	return &c, nil
}

// strategy returns the strategy of a matrix of the class.
func (s *binsDescent) strategy(c *mat.TriDense) (strategy.Strategy, error) {
	if w := s.class.Bandwidth; w > 0 && w < s.schema.Steps() {
		return strategy.NewBanded(c, w)
	}
	return strategy.NewDense(c)
}

// evaluate returns the strategy of a matrix of the class, its mechanism and its squared error.
func (s *binsDescent) evaluate(c *mat.TriDense) (strategy.Strategy, *bins.Mechanism, float64, error) {
	of, err := s.strategy(c)
	if err != nil {
		return nil, nil, 0, err
	}
	q, err := factorize.Evaluate(of, factorize.Mean(s.gram), s.schema)
	if err != nil {
		return nil, nil, 0, err
	}
	mechanism, err := bins.New(c, s.class.Number)
	return of, mechanism, q.SquaredError, err
}

// measure returns the candidate of c, by samples that all candidates have in common.
func (s *binsDescent) measure(ctx context.Context, c *mat.TriDense) (*candidate, error) {
	_, mechanism, squared, err := s.evaluate(c)
	if err != nil {
		return nil, err
	}
	found := &candidate{c: c, squared: squared}
	found.tangent, err = mechanism.Tangent(ctx, s.options.Epsilon, s.options.Delta,
		bins.MonteCarlo{Samples: max(cmp.Or(s.options.MonteCarlo.Samples, 1<<19)/searchShare, 1024),
			Seed: s.options.MonteCarlo.Seed})
	return found, err
}

// consider takes a candidate if it is the best, and reports it.
func (s *binsDescent) consider(c *candidate) {
	if s.best == nil || c.error() < s.best.error() {
		s.best = c
	}
	if s.options.Progress != nil {
		s.options.Progress(factorize.Iteration{Count: s.iterations, Loss: s.best.error(), Gap: math.Inf(1)})
	}
}

// blends starts the search from the best of some Blends, each started from the one before.
func (s *binsDescent) blends(ctx context.Context) error {
	var start mat.Matrix
	for _, lambda := range []float64{0, 0.4, 0.7, 0.85, 0.93, 0.97} {
		c, err := s.descend(ctx, s.class.Blend(lambda), start, 0)
		if err != nil {
			return err
		}
		found, err := s.measure(ctx, c)
		if err != nil {
			return err
		}
		s.consider(found)
		start = c
	}
	return nil
}

// improve goes towards the optimum for the tangent's weights, as far as that is one.
func (s *binsDescent) improve(ctx context.Context) error {
	limit := s.options.Rounds
	if limit == 0 {
		limit = binsRounds
	}
	for range limit {
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
			found, err := s.measure(ctx, between)
			if err != nil {
				return err
			}
			s.consider(found)
		}
		if s.best.error() > before.error()*(1-worthwhile) {
			return nil
		}
	}
	return nil
}

// normalized returns c over the largest |m_j|.
func (s *binsDescent) normalized(c *mat.TriDense) *mat.TriDense {
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
	return scaled
}

// result calibrates the best strategy.
func (s *binsDescent) result(ctx context.Context) (*BinsResult, error) {
	c, mechanism, squared, err := s.evaluate(s.normalized(s.best.c))
	if err != nil {
		return nil, err
	}
	r := &BinsResult{Strategy: c, SquaredError: squared, Iterations: s.iterations}
	r.Privacy, err = mechanism.NoiseMultiplier(ctx, s.options.Epsilon, s.options.Delta, s.options.MonteCarlo)
	if err != nil {
		return nil, err
	}
	r.ErrorAtPrivacy = measure.ErrorAtPrivacy(r.Privacy.NoiseMultiplier, squared)
	return r, nil
}

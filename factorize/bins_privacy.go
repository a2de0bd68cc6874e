package factorize

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/accounting/bins"
	"mafalda/internal/fault"
	"mafalda/optim"
	"mafalda/strategy"
)

// BinsOptions are what Bins.Optimize is asked for.
type BinsOptions struct {
	Epsilon, Delta float64
	MonteCarlo     bins.MonteCarlo // of the final calibration
	Rounds         int             // of tangent and descent; 0 means 12, negative is none: blends only
	Progress       Progress        // if not nil, sees every round: Loss is the estimated error at this privacy
}

// BinsResult is the end of a search.
type BinsResult struct {
	Strategy       strategy.Strategy // the largest |m_j| is 1
	SquaredError   float64           // tr(C⁻ᵀHC⁻¹)
	Privacy        bins.Privacy      // noise multiplier included, confirmed
	ErrorAtPrivacy float64           // ν²·SquaredError, which is what strategies are compared by
	Blend          float64           // λ of the weights that the search started from
	Rounds         int               // of tangent and descent that made it better
	Iterations     int               // over all descents
	Status         optim.Status      // Converged, or IterationLimit of Rounds
}

// What the search does, and when it has enough.
const (
	searchShare = 4    // samples of a tangent are those of the calibration over this
	descent     = 60   // iterations of L-BFGS a round
	binsRounds  = 12   // unless others are asked for
	worthwhile  = 1e-3 // relative decrease that another round has to have brought
)

// Optimize looks for the strategy without negative entries of the least error at the (ε, δ) that random bins give:
// ν²·tr(C⁻ᵀHC⁻¹), with the noise multiplier ν that bins.Mechanism asks for. It descends for weights between
// two extremes (Blend), and then, from the best of these, for the weights of the accountant's own tangent at the
// strategy that there is (bins.Mechanism.Tangent), going only as far as the estimated error falls. The result is a local optimum
// without a certificate; its privacy is confirmed by samples that had no part in the search.
//
// When ctx ends first the result is nil, since noise needs a calibration, and the error is the context's. It also fails
// as Minimize and bins.Mechanism.NoiseMultiplier do.
func (p Bins) Optimize(ctx context.Context, h *mat.SymDense, o BinsOptions) (*BinsResult, error) {
	if err := p.check(h); err != nil {
		return nil, err
	}
	if !(o.Epsilon > 0) || math.IsInf(o.Epsilon, 1) {
		return nil, fault.New("Epsilon", o.Epsilon, "must be positive and finite")
	}
	s := &binsSearch{Bins: p, options: o, objective: newBinsObjective(h, p, nil)}
	if err := s.blends(ctx); err != nil {
		return nil, err
	}
	if err := s.improve(ctx); err != nil {
		return nil, err
	}
	return s.result(ctx)
}

// binsSearch is the state of one search.
type binsSearch struct {
	Bins
	options    BinsOptions
	objective  *binsObjective
	best       *candidate
	blend      float64
	rounds     int
	iterations int
	status     optim.Status
}

// candidate is a strategy with what it costs, by estimate.
type candidate struct {
	c       *mat.TriDense
	squared float64
	tangent *bins.Tangent
}

func (c *candidate) error() float64 {
	return c.tangent.NoiseMultiplier * c.tangent.NoiseMultiplier * c.squared
}

// descend minimizes for weights, from start.
func (s *binsSearch) descend(
	ctx context.Context, weights *mat.SymDense, start mat.Matrix, limit int,
) (*mat.TriDense, error) {
	s.objective.weights = weights
	c, ended, err := s.minimize(ctx, s.objective, start, limit)
	s.iterations += ended.Iterations
	if err == nil {
		err = ctx.Err()
	}
	return c, err
}

// measure returns the candidate of c, by samples that all candidates have in common.
func (s *binsSearch) measure(ctx context.Context, c *mat.TriDense) (*candidate, error) {
	mechanism, err := bins.New(c, s.Number)
	if err != nil {
		return nil, err
	}
	found := &candidate{c: c, squared: s.objective.errorOf(c)}
	found.tangent, err = mechanism.Tangent(ctx, s.options.Epsilon, s.options.Delta,
		bins.MonteCarlo{Samples: max(cmp.Or(s.options.MonteCarlo.Samples, 1<<19)/searchShare, 1024),
			Seed: s.options.MonteCarlo.Seed})
	return found, err
}

// consider takes a candidate if it is the best, and reports it.
func (s *binsSearch) consider(c *candidate) bool {
	better := s.best == nil || c.error() < s.best.error()
	if better {
		s.best = c
	}
	if s.options.Progress != nil {
		s.options.Progress(Iteration{Count: s.iterations, Loss: s.best.error(), Gap: math.Inf(1)})
	}
	return better
}

// blends starts the search from the best of some Blends, each started from the one before.
func (s *binsSearch) blends(ctx context.Context) error {
	var start mat.Matrix
	for _, lambda := range []float64{0, 0.4, 0.7, 0.85, 0.93, 0.97} {
		c, err := s.descend(ctx, s.Blend(lambda), start, 0)
		if err != nil {
			return err
		}
		found, err := s.measure(ctx, c)
		if err != nil {
			return err
		}
		if s.consider(found) {
			s.blend = lambda
		}
		start = c
	}
	return nil
}

// improve goes towards the optimum for the tangent's weights, as far as that is one.
func (s *binsSearch) improve(ctx context.Context) error {
	limit := s.options.Rounds
	if limit == 0 {
		limit = binsRounds
	}
	for s.status = optim.IterationLimit; s.rounds < limit; s.rounds++ {
		before := s.best
		c, err := s.descend(ctx, before.tangent.Weights, before.c, descent)
		if err != nil {
			return err
		}
		c.ScaleTri(before.tangent.NoiseMultiplier, c) // to ⟨weights, G⟩ = ν², as before
		for step := 1.0; step > 0.05 && s.best == before; step /= 2 {
			between := mat.NewTriDense(s.objective.steps, mat.Lower, nil)
			for t := range s.objective.steps {
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
			s.status = optim.Converged
			return nil
		}
	}
	return nil
}

// normalized returns c over the largest |m_j|.
func (s *binsSearch) normalized(c *mat.TriDense) *mat.TriDense {
	steps, largest := s.objective.steps, 0.0
	for j := range s.Number {
		sum := make([]float64, steps)
		for column := j; column < steps; column += s.Number {
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
func (s *binsSearch) result(ctx context.Context) (*BinsResult, error) {
	c := s.normalized(s.best.c)
	mechanism, err := bins.New(c, s.Number)
	if err != nil {
		return nil, err
	}
	r := &BinsResult{SquaredError: s.objective.errorOf(c), Blend: s.blend, Rounds: s.rounds, Iterations: s.iterations,
		Status: s.status}
	r.Privacy, err = mechanism.NoiseMultiplier(ctx, s.options.Epsilon, s.options.Delta, s.options.MonteCarlo)
	if err != nil {
		return nil, err
	}
	r.ErrorAtPrivacy = r.Privacy.NoiseMultiplier * r.Privacy.NoiseMultiplier * r.SquaredError
	r.Strategy, err = s.strategy(c)
	return r, err
}

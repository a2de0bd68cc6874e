package dpps

import (
	"cmp"
	"context"
	"math"

	"mafalda/internal/fault"
)

// Constants are C′ and λ of the sensitivity estimate (Equation 22).
type Constants struct{ C, Lambda float64 }

// PaperConstants returns the constants in the experiments of Zhou et al. (Figure 2, the perceptron with one shared layer).
// They are not sound for any network: a sound C′ is 1 or more.
func PaperConstants() Constants { return Constants{0.78, 0.55} }

// check refuses what the recursion cannot use.
func (c Constants) check() error {
	return cmp.Or(fault.Positive("Constants.C", c.C), fault.CheckRange("Constants.Lambda", c.Lambda, "(0,1)"))
}

// Calibration is what sound estimates of a sequence take.
type Calibration struct {
	Constants
	Ergodicity []float64 // τ_0 = 1, τ_1, …: τ_s is the largest of s rounds; nil: S is of the constants alone
	Horizon    int       // number of rounds after which all nodes must synchronize, at the latest; 0: never
}

const (
	leastLambda   = 0.01
	lambdas       = 400 // that are tried
	tailShare     = 0.1 // τ_B λ^-B of the λ that are considered
	productsShare = 0.6 // of the work, for progress
	upward        = 1 + 1e-9
)

// Calibrate returns ergodicity coefficients, and constants for which Equation 22 is sound on this sequence, whatever
// the nodes add (the condition (*) of sound.go). λ is what makes the sum of all C′λ^s
// small; C′ the smallest for it, but for the lags beyond those where τ has fallen below 1e-4, which are bounded.
// O(n³) for each lag. horizon is the number of rounds after which everybody synchronizes, 0 for never; progress, if not nil,
// is called now and then. The errors are networks that take too much memory (ErrTooLarge), and the context's.
func (s *Sequence) Calibrate(ctx context.Context, horizon int, progress func(fraction float64)) (Calibration, error) {
	p, err := s.products(ctx, horizon, progress)
	if err != nil {
		return Calibration{}, err
	}
	lambda := p.lambda()
	_, c, err := p.constant(ctx, lambda, progress)
	if err != nil {
		return Calibration{}, err
	}
	return Calibration{Constants{c, lambda}, p.ergodic, horizon}, nil
}

// lambda returns the λ for which τ_s ≤ Cλ^s has the smallest sum of right sides.
func (p *products) lambda() float64 {
	lags := len(p.lags)
	from := leastLambda
	if end := p.ergodic[len(p.ergodic)-1]; !p.limited && end > 0 {
		from = math.Max(from, math.Pow(end/tailShare, 1/float64(lags)))
	}
	best, lambda := math.Inf(1), 0.0
	for i := range lambdas {
		l := from + (1-from)*float64(i)/lambdas
		c := 0.0
		for lag := range lags {
			c = math.Max(c, p.ergodic[lag]*math.Pow(l, -float64(lag)))
		}
		total := c / (1 - l)
		if p.limited {
			total *= 1 - math.Pow(l, float64(lags))
		}
		if total < best {
			best, lambda = total, l
		}
	}
	return lambda
}

// SoundConstant returns the smallest C′ for which Equation 22 with this λ is sound on the sequence, as far as lags
// have been looked at (until τ is below 1e-4, or up to the horizon), and one that is enough for all lags; +Inf if
// none is known to be. It fails as Calibrate does, and for a λ out of range (*fault.Argument).
func (s *Sequence) SoundConstant(ctx context.Context, lambda float64, horizon int, progress func(fraction float64)) (necessary,
	enough float64, err error) {
	if err := (Constants{1, lambda}).check(); err != nil {
		return 0, 0, err
	}
	p, err := s.products(ctx, horizon, progress)
	if err != nil {
		return 0, 0, err
	}
	return p.constant(ctx, lambda, progress)
}

package pld

import (
	"math"

	"mafalda/accounting"
	"mafalda/accounting/internal/secant"
	"mafalda/internal/fault"
	"mafalda/internal/rounding"
)

// Target is the privacy asked of rounds of the Poisson-subsampled Gaussian mechanism.
type Target struct {
	Probability float64 // probability that a record takes part in a round
	Rounds      int
	Epsilon     float64 `in:"(0,)"`
	Delta       float64 `in:"(0,1)"`
	Adjacency   accounting.Adjacency
}

// Privacy is a calibrated noise multiplier with what it gives.
type Privacy struct {
	NoiseMultiplier       float64 // rounded up to secant.Digits
	Epsilon, EpsilonLower float64 // bounds of the ε that this multiplier has; Epsilon is not above the one asked for
	By                    Source  // source of Epsilon: the accounting that proved it
}

// Calibrate returns a noise multiplier with which the rounds are (ε, δ)-DP, as Distribution.Epsilon
// proves. It is the least such one but for the accuracy of that, and 1e-4: or MinNoiseMultiplier, if that is enough.
// The errors are a fault.Argument of the field that cannot be, or of Epsilon if MaxNoiseMultiplier is not enough.
func Calibrate(target Target) (Privacy, error) {
	if err := fault.Ranges(target); err != nil {
		return Privacy{}, err
	}
	if _, err := target.compose(1); err != nil {
		return Privacy{}, err
	}
	var found Privacy
	for _, both := range []bool{false, true} {
		s, err := target.search(both)
		if err == nil {
			found, err = target.privacy(s)
		}
		if err != nil || found.Epsilon <= target.Epsilon {
			return found, err
		}
		if found.Epsilon < target.Epsilon*(1+1e-3) { // by other grids, not by an added record
			break
		}
	}
	// Epsilon takes other grids than the search: who asks it for the ε of the multiplier must not get a larger one.
	for step := 1e-5; found.Epsilon > target.Epsilon; step *= 2 {
		step = math.Max(step, math.Min(found.Epsilon/target.Epsilon-1, 0.01)) // ε falls about as fast as noise grows, or faster
		s := rounding.Up(found.NoiseMultiplier*(1+step), secant.Digits)
		if s > MaxNoiseMultiplier {
			return Privacy{}, target.outOfReach()
		}
		var err error
		if found, err = target.privacy(s); err != nil {
			return Privacy{}, err
		}
	}
	return found, nil
}

// privacy returns what a noise multiplier gives.
func (t Target) privacy(multiplier float64) (Privacy, error) {
	d, err := t.compose(multiplier)
	if err != nil {
		return Privacy{}, err
	}
	b, err := d.EpsilonBounds(t.Delta)
	return Privacy{NoiseMultiplier: multiplier, Epsilon: b.Upper, EpsilonLower: b.Lower, By: b.By}, err
}

// outOfReach is the error of an ε that no noise is enough for.
func (t Target) outOfReach() error {
	const most float64 = MaxNoiseMultiplier
	return fault.New("Epsilon", t.Epsilon, "is out of reach for noise multipliers up to %v", most)
}

// compose composes the target's rounds with a noise multiplier.
func (t Target) compose(multiplier float64) (*Distribution, error) {
	return Compose(t.Adjacency, Rounds{Mechanism{t.Probability, multiplier}, t.Rounds})
}

// upper returns an ε that holds with a noise multiplier for a removed record, or for both: it is seldom the added one
// that counts. The guide is as of Distribution.upperEpsilon.
func (t Target) upper(multiplier float64, both bool, g *guide) (float64, error) {
	d, err := t.compose(multiplier)
	if err != nil {
		return 0, err
	}
	return d.upperEpsilon(t.Delta, both, g)
}

// approximate returns log ε for a noise multiplier in about a millisecond, nearly; -Inf where it is 0 or less.
func (t Target) approximate(multiplier float64) float64 {
	d, err := t.compose(multiplier)
	if err != nil || d.variation() <= t.Delta {
		return math.Inf(-1)
	}
	return math.Log(d.direction(false, t.Delta).saddleFor(math.Log(t.Delta)).epsilon)
}

// approximateSlope returns about d log ε/d log s.
func (t Target) approximateSlope(logMultiplier float64) float64 {
	const h = 0.01
	slope := (t.approximate(math.Exp(logMultiplier+h)) - t.approximate(math.Exp(logMultiplier-h))) / (2 * h)
	if !(slope < -0.1 && slope > -50) {
		return -1
	}
	return slope
}

// search returns the least multiplier it finds whose upper bound is at most ε.
func (t Target) search(both bool) (float64, error) {
	goal := math.Log(t.Epsilon)
	if t.approximate(MinNoiseMultiplier) <= goal {
		if epsilon, err := t.upper(MinNoiseMultiplier, both, &guide{}); err != nil || epsilon <= t.Epsilon {
			return MinNoiseMultiplier, err
		}
	}
	for a, b := math.Log(MinNoiseMultiplier), math.Log(MaxNoiseMultiplier); ; { // a first guess
		middle := (a + b) / 2
		if b-a < 1e-4 {
			return t.narrow(middle, both)
		}
		if t.approximate(math.Exp(middle)) > goal {
			a = middle
		} else {
			b = middle
		}
	}
}

// narrow finds where log ε comes to its goal as a function of log s: by secants, within an interval that only shrinks.
func (t Target) narrow(guess float64, both bool) (float64, error) {
	const close = 3e-5
	var near guide
	search := secant.Search{Low: MinNoiseMultiplier, High: MaxNoiseMultiplier, Slope: t.approximateSlope(guess), Epsilon: t.Epsilon,
		Close: close, Margin: close / 4, Tries: 40}
	best, err := search.Least(guess, func(multiplier float64) (float64, error) {
		if math.Abs(math.Log(near.epsilon/t.Epsilon)) > 0.1 {
			near.forget() // the noise is another one
		}
		return t.upper(multiplier, both, &near)
	}, func(width float64) bool {
		return near.points > manyPoints && (width < 1e-3 || near.points > manyPoints*3/2)
	})
	if math.IsInf(best, 1) {
		return 0, t.outOfReach()
	}
	return best, err
}

package bins

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"mafalda/accounting"
	"mafalda/accounting/internal/parameter"
	"mafalda/internal/fault"
	"mafalda/internal/rounding"
)

// Privacy says that random bins with a noise multiplier are (ε, δ)-DP.
type Privacy struct {
	Epsilon         float64
	Delta           float64
	NoiseMultiplier float64

	// Estimated is what was asked for, ε or the noise multiplier, as the samples estimate it, without confidence: the
	// price of the confidence is the distance to it.
	Estimated float64

	Failure   float64 // probability that the mechanism is not (ε, δ)-DP
	Confirmed Delta   // the confirmation; Upper is at most Delta
	Rounds    int     // confirmations that it took; 0 if none was needed
}

// LeastDelta is the least δ that Mechanism has an ε or noise for: samples resolve no smaller one. For one above
// MostDelta next to any noise is enough, and none is calibrated.
const (
	LeastDelta = 1e-100
	MostDelta  = 0.5
)

// CheckDelta refuses a δ that no noise of Mechanism is calibrated for, with a fault.Argument of Delta.
func CheckDelta(delta float64) error {
	if !(delta >= LeastDelta && delta <= MostDelta) {
		return fault.New("Delta", delta, "must be from %v to %v for random bins", LeastDelta, MostDelta)
	}
	return nil
}

// Epsilon returns an ε for which the mechanism is (ε, δ)-DP with probability 1 - Failure: a little above the smallest
// (see NoiseMultiplier, and for errors, too).
func (b *Mechanism) Epsilon(
	ctx context.Context, delta, noiseMultiplier float64, o MonteCarlo,
) (Privacy, error) {
	o, err := o.withDefaults()
	if err := cmp.Or(err, parameter.Probability(delta), CheckDelta(math.Min(delta, MostDelta)),
		parameter.Positive("noise multiplier", noiseMultiplier)); err != nil {
		return Privacy{}, err
	}
	largest, err := accounting.Epsilon(b.gaussianMu(noiseMultiplier), delta)
	if err != nil {
		return Privacy{}, err
	}
	c := calibration{bins: b, options: o, target: delta, largest: largest,
		at: func(epsilon float64) point { return point{epsilon, noiseMultiplier} }}
	found, err := c.solve(ctx)
	found.Epsilon, found.NoiseMultiplier = c.at(c.chosen).epsilon, noiseMultiplier
	return found, err
}

// NoiseMultiplier returns a noise multiplier with which the mechanism is (ε, δ)-DP with probability 1 - Failure: a
// little above the smallest.
//
// It is proposed by samples that have no part in the bound, and then confirmed by fresh ones, as by Delta. A
// confirmation that fails is followed by one of a larger proposal, with half the failure probability: Failure/2,
// Failure/4, ... add up to Failure. The noise that WithoutSamples asks for is where this ends, and where it begins if
// samples would ask for at most a percent less.
//
// It fails with accounting.ErrParameter for numbers out of range, with a fault.Argument about Samples or Failure, as
// CheckDelta does, and when ctx ends.
func (b *Mechanism) NoiseMultiplier(ctx context.Context, epsilon, delta float64, o MonteCarlo) (Privacy, error) {
	o, err := o.withDefaults()
	if err := cmp.Or(err, parameter.NonNegative("epsilon", epsilon), parameter.Probability(delta),
		CheckDelta(delta)); err != nil {
		return Privacy{}, err
	}
	mu, err := accounting.MuFromDP(epsilon, delta)
	if err != nil {
		return Privacy{}, err
	}
	largest := b.gaussianMu(1) / mu * (1 + 0x1p-48)
	if err := parameter.Positive("the noise multiplier", largest); err != nil {
		return Privacy{}, err
	}
	c := calibration{bins: b, options: o, target: delta, largest: largest,
		at: func(noise float64) point { return point{epsilon, noise} }}
	found, err := c.solve(ctx)
	found.Epsilon, found.NoiseMultiplier = epsilon, c.chosen
	return found, err
}

// calibration looks for the smallest argument, ε or ν, at which δ is at most the target.
type calibration struct {
	bins    *Mechanism
	options MonteCarlo
	target  float64
	largest float64 // an argument that is enough without samples: at first, if the draw is known
	at      func(argument float64) point
	chosen  float64
}

// MostConfirmations is how often a calibration tries before it takes the noise of a known draw.
const MostConfirmations = 12

// asGood is by how much samples have to ask for less than what is known without them, to be drawn.
const asGood = 0.01

// solve sets chosen to an argument that is enough, a little above the smallest, and returns how it was confirmed.
func (c *calibration) solve(ctx context.Context) (Privacy, error) {
	found := Privacy{Delta: c.target, Failure: c.options.Failure}
	if c.largest > 0 {
		var err error
		if c.largest, err = c.leastWithoutSamples(); err != nil {
			return found, err
		}
	}
	c.chosen, found.Estimated = c.largest, c.largest
	if c.largest > 0 && c.bins.Number() > 1 && c.bins.gaussianMu(c.at(c.largest).noiseMultiplier) <= largestMu {
		proposed, estimated, err := c.propose(ctx)
		if err != nil {
			return found, err
		}
		found.Estimated = estimated
		for step := 0.003; found.Rounds < MostConfirmations && proposed < c.largest*(1-asGood); step *= 1.7 {
			found.Rounds++
			found.Confirmed, err = c.bins.confirm(ctx, c.at(proposed), c.options, found.Rounds)
			if err != nil {
				return found, err
			}
			if found.Confirmed.Upper <= c.target {
				c.chosen = proposed
				return found, nil
			}
			proposed *= 1 + step
		}
	}
	found.Failure, found.Rounds, found.Estimated = 0, 0, c.largest
	var err error
	found.Confirmed, err = c.bins.confirm(ctx, c.at(c.largest), c.options, 0)
	return found, err
}

// confirm bounds δ at a point with the samples, and the share of the failure probability, of confirmation number round; number 0
// takes no samples.
func (b *Mechanism) confirm(ctx context.Context, at point, o MonteCarlo, round int) (Delta, error) {
	if round == 0 {
		delta, err := b.WithoutSamples(at.epsilon, at.noiseMultiplier)
		e := Estimate{delta, delta}
		return Delta{Estimate: e, Removal: e, Addition: e}, err
	}
	o.Failure = math.Ldexp(o.Failure, -round)
	return b.delta(ctx, at, o, uint64(round))
}

// Confirm computes p.Confirmed again, from nothing else of p but Epsilon, NoiseMultiplier and Rounds, with the values
// that Epsilon or NoiseMultiplier of Mechanism was given. It fails as Delta does, and with a fault.Argument about
// Rounds.
func (b *Mechanism) Confirm(ctx context.Context, p Privacy, o MonteCarlo) (Delta, error) {
	o, err := o.withDefaults()
	if p.Rounds < 0 || p.Rounds > MostConfirmations {
		err = fault.New("Rounds", p.Rounds, "must be from 0 to %d", MostConfirmations)
	}
	if err := cmp.Or(err, parameter.NonNegative("epsilon", p.Epsilon), parameter.Positive("noise multiplier",
		p.NoiseMultiplier)); err != nil {
		return Delta{}, err
	}
	return b.confirm(ctx, point{p.Epsilon, p.NoiseMultiplier}, o, p.Rounds)
}

// propose returns an argument whose confirmation is likely, and the one at which the estimate meets the target.
func (c *calibration) propose(ctx context.Context) (proposed, estimated float64, err error) {
	coarse, fine := max(c.options.Samples/64, 1024), max(c.options.Samples/8, 1024)
	high, err := c.root(ctx, bracket{c.largest, 0.7, 1e-2}, coarse, true)
	if err != nil {
		return 0, 0, err
	}
	if proposed, err = c.root(ctx, bracket{high, 0.99, 3e-4}, fine, true); err != nil {
		return 0, 0, err
	}
	estimated, err = c.root(ctx, bracket{proposed, 0.98, 3e-4}, fine, false)
	return math.Min(proposed, c.largest), estimated, err
}

// bracket is where a root is looked for: from start on in steps of a factor below one, up or down, until it is known to
// a relative width.
type bracket struct{ start, factor, width float64 }

// root returns about the smallest argument at which the bound that is expected of a confirmation, or the estimate
// alone, meets the target, on common samples.
func (c *calibration) root(ctx context.Context, in bracket, samples int, withBound bool) (float64, error) {
	excess := func(argument float64) (float64, error) { // of log δ over log target; decreasing
		expected, err := c.predictDelta(ctx, argument, samples, withBound)
		return math.Log(math.Max(expected, 1e-300) / c.target), err
	}
	x := in.start
	y, err := excess(x)
	if err != nil {
		return 0, err
	}
	step := in.factor
	if y > 0 {
		step = 1 / in.factor
	}
	other, otherY := x, y
	for (otherY > 0) == (y > 0) {
		x, y = other, otherY
		if other = x * step; other < 1e-6*in.start || other > 1e6*in.start {
			return x, nil // as for an ε of nearly 0
		}
		if otherY, err = excess(other); err != nil {
			return 0, err
		}
	}
	for math.Abs(other-x) > in.width*x {
		middle := x + (other-x)*math.Min(math.Max(y/(y-otherY), 0.1), 0.9)
		middleY, err := excess(middle)
		if err != nil {
			return 0, err
		}
		if (middleY > 0) == (y > 0) {
			x, y = middle, middleY
		} else {
			other, otherY = middle, middleY
		}
	}
	return math.Max(x, other), nil
}

// predictDelta returns the estimate of δ, or the bound that a confirmation will probably stay below.
func (c *calibration) predictDelta(ctx context.Context, argument float64, samples int, withBound bool) (float64, error) {
	o := c.options
	removal, addition, err := c.bins.sample(ctx, c.at(argument), samples, stream{o.Seed, forProposedRemoval, 0},
		stream{o.Seed, forProposedAddition, 0})
	if err != nil || !withBound {
		return math.Max(removal.mean, addition.mean), err
	}
	likely := func(s sampled) float64 {
		spread := math.Sqrt(s.variance()) * (1/math.Sqrt(float64(samples)) + 1/math.Sqrt(float64(o.Samples)))
		s.squares *= float64(o.Samples-1) / float64(samples-1)
		s.count = o.Samples
		return s.upperMean(s.peak, o.Failure/4) + 1.5*spread
	}
	return math.Max(likely(removal), likely(addition)), nil
}

// String is a line for people.
func (p Privacy) String() string {
	return fmt.Sprintf("(%s, %s)-DP with noise multiplier %s, but for a chance of %s", rounding.UpText(p.Epsilon, 4),
		rounding.UpText(p.Delta, 3), rounding.UpText(p.NoiseMultiplier, 4), rounding.UpText(p.Failure, 2))
}

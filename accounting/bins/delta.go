package bins

import (
	"cmp"
	"context"
	"math"

	"mafalda/accounting"
	"mafalda/accounting/internal/parameter"
	"mafalda/internal/fault"
)

// MonteCarlo says how an expectation is estimated. The zero value asks for the defaults named here. The same values
// give the same numbers, on any number of processors.
type MonteCarlo struct {
	Samples int     `in:"[1024,)"` // samples for each direction and confirmation; 0 means 2¹⁹, at least 1024
	Failure float64 `in:"(0,0.5]"` // probability, over seeds, that an upper bound is below the truth; 0 means 1e-9, at most 0.5

	// Seed of the samples. What a bound says is said of a seed that was chosen before any result was seen: who takes
	// the best of many seeds multiplies Failure by their number.
	Seed uint64
}

// Check returns a fault.Argument of Samples or Failure if they are out of range.
func (o MonteCarlo) Check() error {
	_, err := o.withDefaults()
	return err
}

// Filled returns the values with the defaults in the place of zeros.
func (o MonteCarlo) Filled() MonteCarlo {
	o.Samples, o.Failure = cmp.Or(o.Samples, 1<<19), cmp.Or(o.Failure, 1e-9)
	return o
}

func (o MonteCarlo) withDefaults() (MonteCarlo, error) {
	o = o.Filled()
	return o, fault.Ranges(o)
}

// Estimate is a number that is known from samples: unbiased, and with an upper bound of some confidence. A number that
// is known without them has its upper bound as value.
type Estimate struct{ Value, Upper float64 }

// Delta is the δ of random bins for an ε.
type Delta struct {
	Estimate          // the larger of both directions
	Removal  Estimate // removal of a record: P against Q
	Addition Estimate // addition of a record: Q against P
	Failure  float64  // probability that one of the upper bounds is below the truth
	Samples  int      // samples drawn for each direction; 0 if none were needed
}

// largestMu is the μ, without the secret, from which on nothing is gained, and nothing is sampled.
const largestMu = 100

// Delta returns the smallest δ for which the mechanism is (ε, δ)-DP, as an estimate, and as an upper bound that holds
// with probability 1 - Failure, half of which is spent on each direction. Noise of standard deviation
// noiseMultiplier·clip is added to sums of gradients clipped to norm clip.
//
// The samples are drawn where the loss is large (component, halfSpace), so that each is proven to be at most some
// multiple of δ, and a bound for means of bounded variables applies (moments.upperMean). Rounding is added. For b = 1,
// and where the noise is so little that the secret gains nothing, the result is the δ of Gaussian noise, without
// samples.
//
// It fails with accounting.ErrParameter for ε < 0 and noise multipliers that are not positive, with a fault.Argument
// about Samples or Failure, and when ctx ends. The cost is about 1 s a million samples and direction for b = 19, and
// grows with b².
func (b *Mechanism) Delta(ctx context.Context, epsilon, noiseMultiplier float64, o MonteCarlo) (Delta, error) {
	o, err := o.withDefaults()
	if err := cmp.Or(err, parameter.NonNegative("epsilon", epsilon), parameter.Positive("noise multiplier",
		noiseMultiplier)); err != nil {
		return Delta{}, err
	}
	return b.delta(ctx, point{epsilon, noiseMultiplier}, o, 0)
}

// point is where δ is asked for.
type point struct{ epsilon, noiseMultiplier float64 }

// delta is Delta with checked arguments. Other rounds have other samples.
func (b *Mechanism) delta(ctx context.Context, at point, o MonteCarlo, round uint64) (Delta, error) {
	known, err := b.knownDraw(at)
	if err != nil {
		return Delta{}, err
	}
	d := Delta{Failure: o.Failure}
	if b.Number() == 1 || b.gaussianMu(at.noiseMultiplier) > largestMu {
		d.Estimate = Estimate{known, known}
		d.Removal, d.Addition, d.Failure = d.Estimate, d.Estimate, 0
		return d, nil
	}
	d.Samples = o.Samples
	removal, addition, err := b.sample(ctx, at, o.Samples, stream{o.Seed, forRemoval, round}, stream{o.Seed, forAddition, round})
	if err != nil {
		return Delta{}, err
	}
	d.Removal, d.Addition = estimate(removal, o, known), estimate(addition, o, known)
	d.Estimate = Estimate{math.Max(d.Removal.Value, d.Addition.Value), math.Max(d.Removal.Upper, d.Addition.Upper)}
	return d, nil
}

// sampled are moments of samples from 0 to peak.
type sampled struct {
	moments
	peak float64
}

// sample draws samples for both directions.
func (b *Mechanism) sample(
	ctx context.Context, at point, samples int, removed, added stream,
) (removal, addition sampled, err error) {
	m := newMixture(b, at.noiseMultiplier, at.epsilon, removed.seed)
	removal = sampled{m.sample(ctx, removed, samples), m.peak}
	h := newHalfSpace(b, at.noiseMultiplier, at.epsilon)
	addition = sampled{h.sample(ctx, added, samples), h.peak}
	return removal, addition, ctx.Err()
}

// estimate returns the estimate for one direction.
func estimate(m sampled, o MonteCarlo, known float64) Estimate {
	upper := math.Nextafter(m.upperMean(m.peak, o.Failure/2), 2)
	return Estimate{Value: m.mean, Upper: math.Min(upper, known)}
}

// knownDraw returns the δ of a mechanism that tells in which batch a record is, rounded up: the mean over the batches
// of the δ of Gaussian noise. Telling it loses privacy in both directions (joint convexity), so no δ is larger.
func (b *Mechanism) knownDraw(at point) (float64, error) {
	var sum float64
	for _, square := range b.diagonal {
		delta, err := accounting.Delta(b.muOf(square, at.noiseMultiplier), at.epsilon)
		if err != nil {
			return 0, err
		}
		sum += delta
	}
	n := float64(b.Number())
	return math.Min(math.Nextafter(sum/n*(1+n*0x1p-51), 2), 1), nil
}

// muOf returns |m|/ν, rounded up, positive.
func (b *Mechanism) muOf(square, noiseMultiplier float64) float64 {
	return math.Nextafter(math.Sqrt(square)/noiseMultiplier*(1+0x1p-50), math.Inf(1))
}

// gaussianMu returns the largest of them: the μ of the mechanism when the draw is known.
func (b *Mechanism) gaussianMu(noiseMultiplier float64) float64 {
	var largest float64
	for _, square := range b.diagonal {
		largest = math.Max(largest, b.muOf(square, noiseMultiplier))
	}
	return largest
}

package export

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting/bins"
	"mafalda/participation"
)

// MaxSamples is how many samples a guarantee can be made of.
const MaxSamples = 1 << 24

// sampled reports whether there is anything that only guarantees by samples have.
func (s *Sampling) sampled() bool {
	return s.Failure != 0 || s.Samples != 0 || s.Seed != nil || s.Confirmations != 0 || s.ConfirmedDelta != 0 ||
		s.NoiseMultiplierEstimate != 0
}

// unsampled reports whether the guarantee of bins is one that takes no samples, and none are said.
func (s *Sampling) unsampled() bool { return s.Confirmations == 0 && s.Samples == 0 }

// checkBins refuses numbers that say nothing of random bins.
func (s *Sampling) checkBins() error {
	switch {
	case s.Probability != 1:
		return fmt.Errorf("sampling.probability is %v: a record of a bin is in every batch of it", s.Probability)
	case s.Epsilon == nil || !(*s.Epsilon >= 0) || s.EpsilonLower != nil:
		return errors.New("sampling bins has an epsilon, and no epsilon_lower")
	case s.Confirmations == 0 && s.Samples == 0 && (s.Failure != 0 || s.Seed != nil || s.NoiseMultiplierEstimate != 0):
		return errors.New("sampling: no samples, but a failure_probability, a seed, or a noise_multiplier_estimate")
	case s.unsampled():
	case !(s.Failure > 0 && s.Failure <= 0.5) || s.Samples < 1024 || s.Samples > MaxSamples || s.Seed == nil:
		return fmt.Errorf("sampling: %d samples, a failure_probability of %v, or no seed", s.Samples, s.Failure)
	case s.Confirmations < 0 || s.Confirmations > bins.MostConfirmations:
		return fmt.Errorf("sampling: %d confirmations", s.Confirmations)
	case !(s.NoiseMultiplierEstimate > 0):
		return errors.New("sampling: no noise_multiplier_estimate")
	}
	if !(s.ConfirmedDelta > 0 && s.ConfirmedDelta <= s.Delta) || len(s.Candidates) == 0 {
		return errors.New("sampling: no candidates, or a confirmed_delta that is not from 0 to delta")
	}
	for i, c := range s.Candidates {
		if c.OptimizedFor != SchemeCyclic && c.OptimizedFor != SchemeBins {
			return fmt.Errorf("sampling.candidates[%d].optimized_for %q: must be cyclic or bins", i, c.OptimizedFor)
		}
	}
	return nil
}

// bins compares the bins with the participation.
func (m *Manifest) bins() error {
	s := m.Sampling
	asked, err := m.Participation.Of(m.Steps)
	switch _, cyclic := asked.(participation.Cyclic); {
	case err != nil:
		return err
	case !cyclic || s.Groups != asked.Separation() || s.Rounds != asked.Participations():
		return fmt.Errorf("%d bins, a record in %d steps, for %v", s.Groups, s.Rounds, asked)
	case m.Space != nil:
		return errors.New("noise that nodes share is not accounted for with bins")
	case *s.Epsilon > *m.Privacy.Epsilon:
		return fmt.Errorf("sampling.epsilon is %v, privacy.epsilon %v", *s.Epsilon, *m.Privacy.Epsilon)
	}
	return nil
}

// MonteCarlo returns what the accountant of random bins was asked for. All candidates hold together with a probability
// of 1 - Failure, so that the choice among them costs nothing more: each has an equal share. It is the zero value for a
// guarantee without samples.
func (s *Sampling) MonteCarlo() bins.MonteCarlo {
	if s.unsampled() {
		return bins.MonteCarlo{}
	}
	return bins.MonteCarlo{Samples: s.Samples, Failure: s.Failure / float64(len(s.Candidates)), Seed: *s.Seed}
}

// otherProcessor is what an upper bound by the same samples may differ by.
const otherProcessor = 1e-10

// ConfirmBins computes the accountant's confirmation again, for the exported C. The error wraps ErrPrivacy where it
// fails: for a C with a negative entry, and where the δ that C, noise multiplier and samples give is not the one that
// the manifest says, or above what it claims.
func (m *Manifest) ConfirmBins(ctx context.Context, c mat.Matrix) error {
	s := m.Sampling
	b, err := bins.New(c, s.Groups)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPrivacy, err)
	}
	d, err := b.Confirm(ctx, bins.Privacy{Epsilon: *s.Epsilon, NoiseMultiplier: s.NoiseMultiplier,
		Rounds: s.Confirmations}, s.MonteCarlo())
	if ctx.Err() != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPrivacy, err)
	}
	apart := math.Abs(d.Upper - s.ConfirmedDelta)
	if s.Confirmations == 0 && s.Samples > 0 { // by an older accountant, which said what a known draw has
		apart = d.Upper - s.ConfirmedDelta
	}
	if !(apart <= otherProcessor*d.Upper) || d.Upper > s.Delta*(1+otherProcessor) {
		return fmt.Errorf("%w: with a noise multiplier of %v delta is at most %v for epsilon = %v; sampling says %v, "+
			"claimed are %v", ErrPrivacy, s.NoiseMultiplier, d.Upper, *s.Epsilon, s.ConfirmedDelta, s.Delta)
	}
	return nil
}

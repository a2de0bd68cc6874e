package verify

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/factorize"
	"mafalda/internal/rounding"
	"mafalda/measure"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// sampling checks how batches are to be drawn, as far as that does not take the network. Whether noise and ε follow
// from it is checked with the privacy, but for bins, which takes the strategy. It fails only when ctx ends.
func (v *verification) sampling(ctx context.Context, c strategy.Strategy) error {
	m, s := v.export.Manifest, v.export.Manifest.Sampling
	_, cyclic := v.asked.(participation.Cyclic)
	switch {
	case s == nil:
		if p := m.Privacy; p != nil && p.Epsilon != nil {
			v.skip("sampling") // the first exports did not say
		}
	case m.Privacy == nil || m.Privacy.Epsilon == nil || m.Privacy.Delta == nil || !cyclic:
		v.add("sampling", false,
			"it takes cyclic participation, and an epsilon and a delta; the manifest says otherwise")
	case m.Binned():
		return v.bins(ctx, c)
	case m.Sampled():
		v.skip("sampling.candidates") // there may have been more of them
		if err := v.poisson(); err != nil {
			v.add("sampling", false, "%v", err)
		}
	}
	return nil
}

// poisson checks what the block says of the groups, and the noise of all candidates.
func (v *verification) poisson() error {
	m, s := v.export.Manifest, v.export.Manifest.Sampling
	claims := []claim{{"sampling.groups", float64(s.Groups), float64(m.Strategy.Bandwidth), 0}}
	epsilon := *m.Privacy.Epsilon
	if m.Space != nil && len(s.Candidates) == 0 { // there was no search for a number of bands
		return v.sharedPoisson(claims, epsilon)
	}
	listed, before := false, 0
	for i, c := range s.Candidates {
		if c.Bandwidth <= before || c.Bandwidth > v.asked.Separation() {
			return fmt.Errorf("sampling.candidates[%d] has %d bands, after %d, of at most b = %d", i, c.Bandwidth,
				before,
				v.asked.Separation())
		}
		before = c.Bandwidth
		noise, err := v.rounds(c.Bandwidth).NoiseFor(epsilon, s.Delta)
		if err != nil {
			return err
		}
		claims = append(claims, claim{fmt.Sprintf("sampling.candidates[%d].noise_multiplier", i), c.NoiseMultiplier,
			noise,
			sameNoise})
		if c.Bandwidth == s.Groups {
			listed = true
			e := v.rounds(s.Groups)
			claims = append(claims, claim{"sampling.probability", s.Probability, e.Probability, 0},
				claim{"sampling.rounds", float64(s.Rounds), float64(e.Rounds), 0},
				claim{"sampling.noise_multiplier", s.NoiseMultiplier, c.NoiseMultiplier, 0},
				claim{"error_at_privacy", m.ErrorAtPrivacy, c.ErrorAtPrivacy, sameFormula})
		}
		if c.ErrorAtPrivacy < m.ErrorAtPrivacy*(1-sameFormula) {
			return fmt.Errorf("%d bands have an error at this privacy of %v, the exported ones %v", c.Bandwidth,
				c.ErrorAtPrivacy, m.ErrorAtPrivacy)
		}
	}
	if !listed {
		return fmt.Errorf("its %d bands are not among sampling.candidates", s.Groups)
	}
	v.compare("sampling", fmt.Sprintf("%d groups of %d rounds with probability %.4g take a noise multiplier of %v",
		s.Groups,
		s.Rounds, s.Probability, s.NoiseMultiplier), claims...)
	return nil
}

// rounds is what a record of the largest group goes through with so many bands.
func (v *verification) rounds(bands int) accounting.SampledRounds {
	return accounting.BandRounds(v.asked.Steps(), v.asked.Separation(), bands)
}

// errorAtPrivacy is a squared error with noise of this multiplier, in units of the clip.
func errorAtPrivacy(multiplier, squaredError float64) float64 {
	return multiplier * multiplier * squaredError
}

// sameNoise is how far apart calibrations on different processors are.
const sameNoise = 1e-7

// candidates computes again what depends on the network: the optimum for batches in turn, and the squared errors.
func (v *verification) candidates(ctx context.Context, h *mat.SymDense) error {
	m := v.export.Manifest
	if !m.Sampled() || m.Privacy == nil || m.Privacy.Epsilon == nil {
		return nil
	}
	if m.Status != optim.Converged.String() {
		v.skip("cyclic_error_at_privacy")
		return nil
	}
	p := m.Privacy
	gap := measure.CandidateGap(m.Tolerance, m.Steps)
	cyclic, err := factorize.Dense{}.Optimize(ctx, factorize.Mean(h), v.asked, factorize.Options{Gap: gap})
	if err != nil {
		return err
	}
	noise, err := accounting.Calibrate(accounting.Target{Epsilon: *p.Epsilon, Delta: *p.Delta},
		rounding.SqrtUp(cyclic.Sensitivity.Squared), p.Clip, accounting.ZeroOut)
	if err != nil {
		return err
	}
	is := errorAtPrivacy(noise.NoiseStd/p.Clip, cyclic.SquaredError)
	claims := []claim{{"cyclic_error_at_privacy", m.CyclicErrorAtPrivacy, is, 2*gap + sameMatrix}}
	if m.Binned() { // whose candidates are searched by descents that end elsewhere on other processors
		v.compare("candidates", "the optimum for batches in turn, computed again", claims...)
		return nil
	}
	for i, c := range m.Sampling.Candidates {
		class := factorize.Banded{Bandwidth: c.Bandwidth}
		best, err := class.Optimize(ctx, factorize.Mean(h), v.schema, factorize.Options{Gap: gap})
		if err != nil {
			return err
		}
		claims = append(claims, claim{fmt.Sprintf("sampling.candidates[%d].error_at_privacy", i), c.ErrorAtPrivacy,
			errorAtPrivacy(c.NoiseMultiplier, best.SquaredError), 2*gap + sameMatrix})
	}
	v.compare("candidates", fmt.Sprintf("%d numbers of bands, and the optimum for batches in turn, computed again",
		len(m.Sampling.Candidates)), claims...)
	return nil
}

// atPrivacy returns what the errors at the privacy should be by other numbers of the manifest.
func (v *verification) atPrivacy() []claim {
	m, p := v.export.Manifest, v.export.Manifest.Privacy
	if m.ErrorAtPrivacy == 0 && m.CyclicErrorAtPrivacy == 0 {
		if p != nil && p.Epsilon != nil {
			v.skip("error_at_privacy", "cyclic_error_at_privacy")
		}
		return nil
	}
	if p == nil || p.Epsilon == nil {
		return []claim{{"error_at_privacy without an epsilon", m.ErrorAtPrivacy, math.NaN(), 0}}
	}
	claims := []claim{{"error_at_privacy", m.ErrorAtPrivacy, errorAtPrivacy(p.NoiseStd/p.Clip, m.SquaredError),
		2 * sameFormula}}
	switch {
	case m.Sampled(): // see candidates
	case m.CyclicErrorAtPrivacy == 0:
		v.skip("cyclic_error_at_privacy")
	default:
		claims = append(claims, claim{"cyclic_error_at_privacy", m.CyclicErrorAtPrivacy,
			m.ErrorAtPrivacy * v.optimalLoss() / m.Loss, 4 * sameFormula})
	}
	return claims
}

// optimalLoss returns the loss of the dense optimum that the manifest states, or NaN if it states none.
func (v *verification) optimalLoss() float64 {
	m := v.export.Manifest
	switch {
	case !participation.IsPartition(v.schema):
		return math.NaN()
	case m.SharedLoss > 0:
		return m.SharedLoss
	case m.Strategy.Ratio > 0:
		return m.Loss / m.Strategy.Ratio
	case isDense(m.Strategy):
		return m.Loss
	}
	return math.NaN()
}

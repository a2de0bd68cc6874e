package verify

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mafalda/strategy"
)

// bins checks the exported candidate, and has the accountant of random bins bound δ again, by the same samples if it
// took any. The other
// candidates are not checked but for their errors, none of which may be smaller.
func (v *verification) bins(ctx context.Context, c strategy.Strategy) error {
	m, s := v.export.Manifest, v.export.Manifest.Sampling
	v.skip("sampling.candidates")
	if err := v.binCandidates(); err != nil {
		v.add("sampling", false, "%v", err)
		return nil
	}
	var lower mat.TriDense
	c.StrategyTo(&lower)
	if err := m.ConfirmBins(ctx, &lower); err != nil {
		return v.computing("sampling", err)
	}
	if s.Samples == 0 {
		v.add("sampling", true, "%d bins take a noise multiplier of %v: delta is at most %s for epsilon = %v, without samples",
			s.Groups, s.NoiseMultiplier, textUp(s.ConfirmedDelta), *s.Epsilon)
		return nil
	}
	v.add("sampling", true, "%d bins take a noise multiplier of %v: delta is at most %s for epsilon = %v, by %d samples "+
		"of seed %d, but for a chance of %.2g", s.Groups, s.NoiseMultiplier, textUp(s.ConfirmedDelta), *s.Epsilon, s.Samples,
		*s.Seed, s.Failure)
	return nil
}

// binCandidates finds the exported strategy among the candidates.
func (v *verification) binCandidates() error {
	m, s := v.export.Manifest, v.export.Manifest.Sampling
	listed := false
	for i, c := range s.Candidates {
		if c.ErrorAtPrivacy < m.ErrorAtPrivacy*(1-sameFormula) {
			return fmt.Errorf("sampling.candidates[%d] has an error at this privacy of %v, the exported one %v", i,
				c.ErrorAtPrivacy, m.ErrorAtPrivacy)
		}
		bands := m.Strategy.Bandwidth
		if isDense(m.Strategy) {
			bands = m.Steps
		}
		if c.ErrorAtPrivacy <= m.ErrorAtPrivacy*(1+sameFormula) && c.NoiseMultiplier == s.NoiseMultiplier {
			listed = listed || c.Bandwidth == bands
		}
	}
	if !listed {
		return fmt.Errorf("the exported strategy, with a noise multiplier of %v, is not among sampling.candidates",
			s.NoiseMultiplier)
	}
	return nil
}

package verify

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/export"
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
	m, s, p := v.export.Manifest, v.export.Manifest.Sampling, v.export.Manifest.Privacy
	_, cyclic := v.asked.(participation.Cyclic)
	private := p != nil && p.Epsilon != nil && p.Delta != nil
	switch {
	case s == nil && (!cyclic || m.ErrorAtPrivacy == 0):
		return nil
	case s == nil || !private || !cyclic:
		v.add("sampling", false, "sampling, cyclic participation, and an error_at_privacy for an epsilon and a delta belong together")
		return nil
	case !m.Sampled():
		return nil
	}
	v.skip("sampling.candidates") // there may have been more of them
	if m.Binned() {
		return v.computing("sampling", v.bins(ctx, c))
	}
	return v.computing("sampling", v.poisson())
}

// poisson checks the number of groups, and the noise of all candidates.
func (v *verification) poisson() error {
	m, s := v.export.Manifest, v.export.Manifest.Sampling
	is := &export.Sampling{Groups: m.Strategy.Bandwidth, Candidates: slices.Clone(s.Candidates)}
	v.again.Sampling = is
	before := 0
	for i, c := range s.Candidates {
		if c.Bandwidth <= before || c.Bandwidth > v.asked.Separation() {
			return fmt.Errorf("sampling.candidates[%d] has %d bands, after %d, of at most b = %d", i, c.Bandwidth,
				before, v.asked.Separation())
		}
		before = c.Bandwidth
		var err error
		if is.Candidates[i].NoiseMultiplier, err = v.noiseFor(c.Bandwidth); err != nil {
			return err
		}
	}
	if m.Space == nil || len(s.Candidates) > 0 { // else there was no search for a number of bands
		if err := v.findCandidate(); err != nil {
			return err
		}
	}
	var err error
	if is.NoiseMultiplier, err = v.noiseFor(s.Groups); err == nil {
		v.compare("sampling", "")
	}
	return err
}

// findCandidate finds the exported strategy among the candidates, none of which has a smaller error.
func (v *verification) findCandidate() error {
	m, s := v.export.Manifest, v.export.Manifest.Sampling
	bands := m.Strategy.Bandwidth
	if isDense(m.Strategy) {
		bands = m.Steps
	}
	is := false
	for i, c := range s.Candidates {
		if c.ErrorAtPrivacy < m.ErrorAtPrivacy*(1-sameFormula) {
			return fmt.Errorf("sampling.candidates[%d] has an error at this privacy of %v, the exported one %v", i,
				c.ErrorAtPrivacy, m.ErrorAtPrivacy)
		}
		is = is || c.Bandwidth == bands && c.NoiseMultiplier == s.NoiseMultiplier && c.ErrorAtPrivacy <= m.ErrorAtPrivacy*(1+sameFormula)
	}
	if !is {
		return fmt.Errorf("the exported strategy, of %d bands with a noise multiplier of %v, is not among sampling.candidates", bands,
			s.NoiseMultiplier)
	}
	return nil
}

// noiseFor returns the noise multiplier that the privacy needs with these bands.
func (v *verification) noiseFor(bands int) (float64, error) {
	m := v.export.Manifest
	d, err := m.Sampling.Numbers(m.Steps, v.adjacency()).Scheme.Draw(v.asked, bands)
	if err != nil {
		return 0, err
	}
	return d.NoiseMultiplier(*m.Privacy.Epsilon, m.Sampling.Delta)
}

// adjacency is the one of the manifest, which its privacy is checked with.
func (v *verification) adjacency() accounting.Adjacency {
	a, _ := accounting.ParseAdjacency(v.export.Manifest.Privacy.Adjacency) // CheckPrivacy has seen it
	return a
}

// candidates computes again what depends on the network: the optimum for batches in turn, and the squared errors.
func (v *costs) candidates(ctx context.Context) error {
	m, h := v.export.Manifest, v.h
	if !m.Sampled() || m.Privacy == nil || m.Privacy.Epsilon == nil {
		return nil
	}
	if m.Status != optim.Converged.String() {
		v.skip("cyclic_error_at_privacy", "sampling.lower_bound")
		return nil
	}
	p := m.Privacy
	gap := v.candidateGap()
	cyclic, err := factorize.Dense{}.Optimize(ctx, factorize.Mean(h), v.asked, factorize.Options{Gap: gap})
	if err != nil {
		return err
	}
	noise, err := accounting.Calibrate(accounting.Target{Epsilon: *p.Epsilon, Delta: *p.Delta},
		rounding.SqrtUp(cyclic.Sensitivity.Squared), p.Clip, v.adjacency())
	if err != nil {
		return err
	}
	v.again.CyclicErrorAtPrivacy = measure.ErrorAtPrivacy(noise.NoiseStd/p.Clip, cyclic.SquaredError)
	candidates := slices.Clone(m.Sampling.Candidates)
	v.again.Sampling = &export.Sampling{Candidates: candidates}
	if err := v.secretBound(ctx, cyclic); err != nil {
		return err
	}
	if m.Binned() { // whose candidates are searched by descents that end elsewhere on other processors
		v.compare("candidates", "")
		return nil
	}
	for i, c := range candidates {
		class := factorize.Banded{Bandwidth: c.Bandwidth}
		best, err := class.Optimize(ctx, factorize.Mean(h), v.schema, factorize.Options{Gap: gap})
		if err != nil {
			return err
		}
		candidates[i].ErrorAtPrivacy = measure.ErrorAtPrivacy(c.NoiseMultiplier, best.SquaredError)
	}
	v.compare("candidates", "")
	return nil
}

// secretBound proves again what no strategy's error is below under the sampling.
func (v *costs) secretBound(ctx context.Context, cyclic *factorize.Result) error {
	m, s := v.export.Manifest, v.export.Manifest.Sampling
	if s.LowerBound == 0 { // earlier exports did not say
		if m.Binned() || s.Kind().Traits().Independent {
			v.skip("sampling.lower_bound")
		}
		return nil
	}
	proven, err := measure.NewSecretBounds(v.h, v.asked, cyclic, v.candidateGap()).Under(ctx, s, *m.Privacy.Epsilon)
	if err == nil {
		v.again.Sampling.LowerBound = proven
		v.compare("secret bound", "no strategy has a smaller error under this sampling than "+textDown(proven))
	}
	return err
}

// candidateGap is the gap to which candidates are searched for.
func (v *verification) candidateGap() float64 {
	return measure.CandidateGap(v.export.Manifest.Tolerance, v.export.Manifest.Steps)
}

// atPrivacy fills in what the errors at the privacy should be by other numbers of the manifest.
func (v *verification) atPrivacy(follows *export.Manifest) {
	m, p := v.export.Manifest, v.export.Manifest.Privacy
	switch {
	case m.ErrorAtPrivacy == 0 && m.CyclicErrorAtPrivacy == 0 && m.Sampling == nil: // μ was asked for
		return
	case p == nil || p.Epsilon == nil:
		follows.ErrorAtPrivacy = math.NaN()
		return
	}
	follows.ErrorAtPrivacy = measure.ErrorAtPrivacy(p.NoiseStd/p.Clip, m.SquaredError)
	switch {
	case m.Sampled() && m.Space != nil && m.CyclicErrorAtPrivacy != 0: // shared noise has none
		follows.CyclicErrorAtPrivacy = math.NaN()
	case m.Sampled(): // see candidates
	case m.CyclicErrorAtPrivacy == 0:
		v.skip("cyclic_error_at_privacy")
	default:
		follows.CyclicErrorAtPrivacy = m.ErrorAtPrivacy * v.optimalLoss() / m.Loss
	}
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

// bins checks the exported candidate, and has the accountant of random bins bound δ again, by the same samples if it
// took any. The other candidates are not checked but for their errors, none of which may be smaller.
func (v *verification) bins(ctx context.Context, c strategy.Strategy) error {
	m, s := v.export.Manifest, v.export.Manifest.Sampling
	var lower mat.TriDense
	c.StrategyTo(&lower)
	if err := cmp.Or(v.findCandidate(), m.ConfirmBins(ctx, &lower)); err != nil {
		return err
	}
	text := "without samples"
	if s.Samples > 0 {
		text = fmt.Sprintf("by %d samples of seed %d, but for a chance of %.2g", s.Samples, *s.Seed, s.Failure)
	}
	v.add("sampling", true, "%d bins take a noise multiplier of %v: delta is at most %s for epsilon = %v, %s", s.Groups, s.NoiseMultiplier,
		textUp(s.ConfirmedDelta), *s.Epsilon, text)
	return nil
}

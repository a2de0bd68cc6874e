package plan

import (
	"cmp"
	"context"

	"mafalda/accounting/bins"
	"mafalda/accounting/sampling"
	"mafalda/export"
	"mafalda/factorize/bands"
	"mafalda/internal/fault"
	"mafalda/internal/rounding"
	"mafalda/measure"
	"mafalda/participation"
)

// Bands is what a number of bands costs at a privacy: the best strategy under Poisson sampling, one without
// negative entries under Bins.
type Bands struct {
	bands.Cost

	// For is what a strategy under Bins was optimized for, InTurn (loss, as if the draw were known) or Bins (this error),
	// and Privacy how its noise was found.
	For     participation.Scheme
	Privacy bins.Privacy
}

// setDrawnNoise fills in the noise of the best bands, with what a manifest says of the candidates and the draw from
// these groups.
func (s *job) setDrawnNoise(groups int) {
	wanted, best := s.Options.Privacy, s.bands
	epsilon, delta := wanted.Epsilon, wanted.Delta
	s.Privacy = &export.Privacy{Epsilon: &epsilon, Delta: &delta, Clip: wanted.clip(),
		Adjacency: wanted.Adjacency.String(), NoiseStd: rounding.MulUp(best.NoiseMultiplier, wanted.clip())}
	s.Sampling = &export.Sampling{Scheme: s.Options.Sampling.String(), Groups: groups, Probability: best.Probability,
		Rounds: best.Rounds, NoiseMultiplier: best.NoiseMultiplier, Delta: delta, Records: s.Options.Batches.Records,
		MaxBatch: s.Options.Batches.Most}
	for _, c := range s.Candidates {
		s.Sampling.Candidates = append(s.Sampling.Candidates, export.Candidate{Bandwidth: c.Bandwidth,
			NoiseMultiplier: c.NoiseMultiplier, ErrorAtPrivacy: c.ErrorAtPrivacy})
	}
	s.ErrorAtPrivacy = measure.ErrorAtPrivacy(s.Privacy.NoiseStd/s.Privacy.Clip, best.SquaredError)
}

// boundSecret fills in a lower bound of the error under the sampling, and the gap to it, if there is time for it.
func (s *job) boundSecret(ctx context.Context) error {
	if ctx.Err() != nil {
		return nil
	}
	s.show("lower bound", 0)
	b, err := measure.NewSecretBounds(s.gram, s.schema(), s.Cyclic, s.bandGap()).Under(ctx, s.Sampling, s.Options.Privacy.Epsilon)
	if isEnd(err) {
		return nil
	}
	if s.Sampling.LowerBound = b; b > 0 {
		s.Gap = rounding.DivUp(s.ErrorAtPrivacy-b, b)
	}
	return err
}

// checkDrawn rejects more participations than batches that are drawn in secret have on average.
func (o Options) checkDrawn(p Problem) error {
	steps, k, b := p.Schema.Steps(), p.Schema.Participations(), p.Schema.Separation()
	return fault.If(steps > k*b, "Participations", k, "[Sampling] %v lets a record take part T/b = %.4g times on average, "+
		"more than k = %d", o.Sampling, float64(steps)/float64(b), k)
}

// checkDrawnPrivacy refuses targets other than (ε, δ).
func (o Options) checkDrawnPrivacy() error {
	var p Privacy
	if o.Privacy != nil {
		p = *o.Privacy
	}
	err := cmp.Or(
		fault.If(p.Mu != 0, "Mu", p.Mu,
			"[Mu] is not for [Sampling] %v, which mu does not describe: give [Epsilon] and [Delta]", o.Sampling),
		fault.If(p.Epsilon == 0 || p.Delta == 0, "Sampling", nil,
			"[Sampling] %v needs [Epsilon] and [Delta]: its noise depends on them", o.Sampling),
	)
	if err == nil {
		err = o.drawn().CheckAdjacency()
	}
	return err
}

// checkBatches refuses largest batches where batches are of any size, and such as are none.
func (o Options) checkBatches() error {
	largest, b := sampling.Of(o.Sampling).Traits().Largest, o.Batches
	err := cmp.Or(
		fault.If(largest && b.Records == 0, "Records", nil,
			"[Sampling] %v needs [Records], at least as many as any node has: they are public, and say how likely a batch "+
				"is to be too large", o.Sampling),
		fault.If(!largest && !b.None(), "Records", nil,
			"[Records] and [MaxBatch] are for [Sampling] %v, not %v", participation.Truncated, o.Sampling),
	)
	if err == nil && largest {
		err = b.Check()
	}
	return err
}

// checkMonteCarlo refuses samples where there are none, or too few or many of them.
func (o Options) checkMonteCarlo() error {
	m := o.MonteCarlo
	given := m.Samples != 0 || m.Failure != 0
	err := cmp.Or(
		fault.If(given && o.Sampling != participation.Bins, "Samples", nil,
			"[Samples] and [Failure] are for [Sampling] %v", participation.Bins),
		fault.If(m.Samples > export.MaxSamples, "Samples", m.Samples, "must be at most %d", export.MaxSamples),
	)
	if err == nil && given {
		err = m.Check()
	}
	return err
}

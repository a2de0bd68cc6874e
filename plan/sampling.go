package plan

import (
	"mafalda/accounting"
	"mafalda/accounting/bins"
	"mafalda/accounting/pld"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/strategy"
)

// DefaultClass returns the class to take if none is asked for: banded, with the best number of bands, where batches are
// drawn in secret, and dense otherwise.
func DefaultClass(sampling participation.Scheme, schema participation.Schema) factorize.Class {
	if sampling == participation.InTurn {
		return factorize.DefaultClass(schema)
	}
	return factorize.Banded{}
}

// checkSampling refuses what does not go together with batches that are drawn in secret.
func (o Options) checkSampling(p Problem) error {
	if !o.Sampling.Known() {
		return fault.New("Sampling", int(o.Sampling), "is none that there is")
	}
	if err := o.checkMonteCarlo(); err != nil || o.Sampling == participation.InTurn {
		return err
	}
	_, cyclic := p.Schema.(participation.Cyclic)
	steps, k, b := p.Schema.Steps(), p.Schema.Participations(), p.Schema.Separation()
	switch {
	case !cyclic:
		return fault.New("Sampling", nil, "[Sampling] %v is not for %s participation", o.Sampling, p.Schema.Name())
	case steps > k*b:
		return fault.New("Participations", k,
			"[Sampling] %v lets a record take part T/b = %.4g times on average, more "+
				"than k = %d", o.Sampling, float64(steps)/float64(b), k)
	case o.split():
		return fault.New("Groups", nil, "[PerNode] and [Groups] are not for [Sampling] %v", o.Sampling)
	case p.Objective != Mean:
		return fault.New("Objective", nil, "[Objective] %v is not for [Sampling] %v", p.Objective, o.Sampling)
	case o.Start != nil || o.StartFrom != "" || o.Checkpoint != "":
		return fault.New("StartFrom", nil, "[StartFrom] and [Checkpoint] are not for [Sampling] %v", o.Sampling)
	}
	if err := o.checkBands(steps, b); err != nil {
		return err
	}
	return o.checkSampledPrivacy()
}

// checkBands refuses strategies that the accountant of a sampling says nothing about.
func (o Options) checkBands(steps, b int) error {
	class, banded := o.Class.(factorize.Banded)
	switch w := class.Bandwidth; {
	case !banded:
		return fault.New("Class", nil, "[Sampling] %v is for [Class] banded, not %s", o.Sampling, o.Class.Name())
	case o.Sampling == participation.Poisson && (w < 0 || w > b):
		return fault.New("Bandwidth", w, "must be from 1 to b = %d with [Sampling] %v", b, o.Sampling)
	case o.Sampling == participation.Bins && steps > strategy.LongSteps:
		return fault.New("Steps", steps, "must be at most %d with [Sampling] %v", strategy.LongSteps, o.Sampling)
	}
	return nil
}

// checkMonteCarlo refuses samples where there are none, or too few or many of them.
func (o Options) checkMonteCarlo() error {
	m := o.MonteCarlo
	switch {
	case m.Samples == 0 && m.Failure == 0:
		return nil
	case o.Sampling != participation.Bins:
		return fault.New("Samples", nil, "[Samples] and [Failure] are for [Sampling] %v", participation.Bins)
	case m.Samples > export.MaxSamples:
		return fault.New("Samples", m.Samples, "must be at most %d", export.MaxSamples)
	}
	return m.Check()
}

// checkSampledPrivacy refuses targets other than (ε, δ).
func (o Options) checkSampledPrivacy() error {
	p := o.Privacy
	switch {
	case p != nil && p.Mu != 0:
		return fault.New("Mu", p.Mu,
			"[Mu] is not for [Sampling] %v, which mu does not describe: give [Epsilon] and [Delta]",
			o.Sampling)
	case p == nil || p.Epsilon == 0 || p.Delta == 0:
		return fault.New("Sampling", nil, "[Sampling] %v needs [Epsilon] and [Delta]: its noise depends on them",
			o.Sampling)
	case p.Adjacency != accounting.ZeroOut:
		return fault.New("Adjacency", nil,
			"[Adjacency] %v is not for [Sampling] %v, whose privacy is proved for %v only",
			p.Adjacency, o.Sampling, accounting.ZeroOut)
	case o.Sampling == participation.Bins:
		return bins.CheckDelta(p.Delta)
	}
	return nil
}

// poissonRounds is what a record of the largest group goes through with so many bands: step t draws from group t mod w.
func poissonRounds(schema participation.Schema, bands int) pld.Rounds {
	return pld.Rounds{Rounds: (schema.Steps() + bands - 1) / bands,
		Mechanism: pld.Mechanism{Probability: float64(bands) / float64(schema.Separation())}}
}

// noiseFor returns the noise multiplier with which a record's rounds are (ε, δ)-DP. It fails as
// pld.Calibrate does.
func noiseFor(e pld.Rounds, epsilon, delta float64) (float64, error) {
	p, err := pld.Calibrate(pld.Target{Probability: e.Probability, Rounds: e.Rounds,
		Epsilon: epsilon, Delta: delta})
	return p.NoiseMultiplier, err
}

// errorAtPrivacy is a squared error with noise of this standard deviation, in units of the clip.
func errorAtPrivacy(noiseStd, clip, squaredError float64) float64 {
	return noiseStd / clip * (noiseStd / clip) * squaredError
}

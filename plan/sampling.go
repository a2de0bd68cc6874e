package plan

import (
	"fmt"
	"slices"
	"strings"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/internal/fault"
	"mafalda/participation"
)

// Sampling says how nodes draw the batches of their steps.
type Sampling int

const (
	// Cyclic is batches in turn, or whatever else the schema allows. Attackers may know in which steps a record takes
	// part.
	Cyclic Sampling = iota
	// Poisson is batches drawn in secret: a node puts every record once, independently of all others, into one of as
	// many groups as the strategy has bands, w; step t draws from group t mod w, every record independently with
	// probability w/b. So on average a batch has one in b records, as it has under the cyclic schema of k and b.
	//
	// A record is then in no two steps whose columns of C have a row in common, and the privacy of its group's steps is
	// that of so many rounds of the Poisson-subsampled Gaussian mechanism with columns of norm one (Choquette-Choo et
	// al. 2023, "(Amplified) Banded Matrix Factorization"), which package accounting composes.
	Poisson
)

var samplings = [...]string{Cyclic: export.SchemeCyclic, Poisson: export.SchemePoisson}

// Samplings returns the names that ParseSampling accepts.
func Samplings() []string { return slices.Clone(samplings[:]) }

// String returns "cyclic" or "poisson".
func (s Sampling) String() string {
	if s < 0 || int(s) >= len(samplings) {
		return fmt.Sprintf("Sampling(%d)", int(s))
	}
	return samplings[s]
}

// ParseSampling returns the sampling of this name. The error is a fault.Argument about Sampling.
func ParseSampling(name string) (Sampling, error) {
	for s, n := range samplings {
		if n == name {
			return Sampling(s), nil
		}
	}
	return 0, fault.New("Sampling", name, "must be %s", strings.Join(samplings[:], " or "))
}

// DefaultClass returns the class to take if none is asked for. Under Poisson it is that of bands, as many as are best.
func (s Sampling) DefaultClass(schema participation.Schema) factorize.Class {
	if s == Poisson {
		return factorize.Banded{}
	}
	return factorize.DefaultClass(schema)
}

// checkSampling refuses what does not go together with batches that are drawn in secret.
func (o Options) checkSampling(p Problem) error {
	switch o.Sampling {
	case Cyclic:
		return nil
	case Poisson:
	default:
		return fault.New("Sampling", int(o.Sampling), "is none that there is")
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
	class, banded := o.Class.(factorize.Banded)
	switch w := class.Bandwidth; {
	case !banded:
		return fault.New("Class", nil, "[Sampling] %v is for [Class] banded, not %s", o.Sampling, o.Class.Name())
	case w < 0 || w > b:
		return fault.New("Bandwidth", w, "must be from 1 to b = %d with [Sampling] %v", b, o.Sampling)
	}
	return o.checkSampledPrivacy()
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
	}
	return nil
}

// poissonRounds is what a record of the largest group goes through with so many bands: step t draws from group t mod w.
func poissonRounds(schema participation.Schema, bands int) accounting.SampledRounds {
	return accounting.SampledRounds{Rounds: (schema.Steps() + bands - 1) / bands,
		SampledGaussian: accounting.SampledGaussian{Probability: float64(bands) / float64(schema.Separation())}}
}

// noiseFor returns the noise multiplier with which what a record goes through is (ε, δ)-DP. The errors are those of
// accounting.CalibrateSampled.
func noiseFor(e accounting.SampledRounds, epsilon, delta float64) (float64, error) {
	p, err := accounting.CalibrateSampled(accounting.SampledTarget{Probability: e.Probability, Rounds: e.Rounds,
		Epsilon: epsilon, Delta: delta})
	return p.NoiseMultiplier, err
}

// errorAtPrivacy is a squared error with noise of this standard deviation, in units of the clip.
func errorAtPrivacy(noiseStd, clip, squaredError float64) float64 {
	return noiseStd / clip * (noiseStd / clip) * squaredError
}

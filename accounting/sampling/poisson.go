package sampling

import (
	"fmt"
	"math"

	"mafalda/accounting"
	"mafalda/accounting/pld"
	"mafalda/participation"
)

// Poisson is the Draw of Poisson sampling from this number of groups.
type Poisson struct {
	pld.Rounds // rounds of a group; the noise multiplier is given to the methods
	Groups     int
	Batches    Batches // the largest ones; the zero value: of any size
	Adjacency  accounting.Adjacency
	All        int // number of rounds whose overflows count; 0: that of Rounds
}

// Overflow is Batches.Overflow of all rounds.
func (p Poisson) Overflow() float64 { return p.Batches.Overflow(p.all(), p.Groups) }

func (p Poisson) all() pld.Rounds {
	all := p.Rounds
	all.Rounds = max(p.All, all.Rounds)
	return all
}

// left returns what overflows leave of δ.
func (p Poisson) left(delta float64) (float64, error) {
	return p.Batches.Left(delta, p.all(), p.Groups)
}

// Bounds returns bounds of the least ε, of what overflows leave of δ. It fails as Batches.Left and pld.Compose do.
func (p Poisson) Bounds(delta, noiseMultiplier float64) (pld.EpsilonBounds, error) {
	left, err := p.left(delta)
	if err != nil {
		return pld.EpsilonBounds{}, err
	}
	d, err := p.compose(noiseMultiplier)
	if err != nil {
		return pld.EpsilonBounds{}, err
	}
	b, err := d.EpsilonBounds(left)
	if !p.Batches.None() {
		b.Lower, b.By = 0, pld.Source("")
	}
	return b, err
}

func (p Poisson) compose(noiseMultiplier float64) (*pld.Distribution, error) {
	p.Rounds.NoiseMultiplier = noiseMultiplier
	return pld.Compose(p.Adjacency, p.Rounds)
}

// Epsilon returns the upper one of Bounds.
func (p Poisson) Epsilon(delta, noiseMultiplier float64) (float64, error) {
	b, err := p.Bounds(delta, noiseMultiplier)
	return b.Upper, err
}

// Delta returns a δ with the chance of overflows in it. It fails as pld.Compose and pld.Distribution.Delta do.
func (p Poisson) Delta(epsilon, noiseMultiplier float64) (float64, error) {
	d, err := p.compose(noiseMultiplier)
	if err != nil {
		return 0, err
	}
	upper, _, err := d.Delta(epsilon)
	return math.Min(upper+p.Overflow(), 1), err
}

// NoiseMultiplier returns a noise multiplier with which the draw is (ε, δ)-DP. It fails as Batches.Left and pld.Calibrate
// do.
func (p Poisson) NoiseMultiplier(epsilon, delta float64) (float64, error) {
	left, err := p.left(delta)
	if err != nil {
		return 0, err
	}
	return p.Rounds.NoiseFor(p.Adjacency, epsilon, left)
}

// poisson is participation.Poisson.
type poisson struct{}

func (poisson) Traits() Traits {
	return Traits{Banded: true, Independent: true, Parameters: []string{"probability", "rounds"},
		About: "in secret, every record with probability w/b in each step of its group, one of w"}
}

func (poisson) Check(participation.Schema) error { return nil }

func (poisson) Numbers(s Scheme, schema participation.Schema, groups int) Numbers {
	r := pld.BandRounds(schema.Steps(), schema.Separation(), groups)
	return Numbers{s, schema.Steps(), groups, r.Rounds, r.Probability}
}

func (poisson) Draw(n Numbers) (Draw, error) { return n.poisson(n.Rounds), nil }

func (n Numbers) poisson(rounds int) Poisson {
	return Poisson{pld.Rounds{Rounds: rounds, Mechanism: pld.Mechanism{Probability: n.Probability}}, n.Groups, n.Batches, n.Adjacency,
		n.Rounds}
}

// Begun returns the rounds of the group of step 0, which has the most.
func (poisson) Begun(n Numbers, t int) ([]Draw, error) {
	return []Draw{n.poisson((t + n.Groups - 1) / n.Groups)}, nil
}

func (poisson) Sampling(n Numbers) participation.Sampling { return n.poissonSampling() }

func (n Numbers) poissonSampling() participation.PoissonSampling {
	return participation.PoissonSampling{Groups: n.Groups, Probability: n.Probability}
}

func (poisson) Read(s participation.Sampling, steps int) (n Numbers, is bool) {
	p, is := s.(participation.PoissonSampling)
	if is {
		n.Groups, n.Rounds, n.Probability = p.Groups, p.Rounds(steps), p.Probability
	}
	return n, is
}

func (poisson) Condition(n Numbers) string {
	from := "every record"
	if n.Groups > 1 {
		from = fmt.Sprintf("every one of group t mod %d", n.Groups)
	}
	return fmt.Sprintf("%sin step t %s takes part with probability %v, independently", n.inGroups(), from, n.Probability)
}

package sampling

import (
	"math"

	"mafalda/accounting"
	"mafalda/accounting/allocation"
	"mafalda/accounting/pld"
	"mafalda/internal/fault"
	"mafalda/participation"
)

// A Draw is what a record goes through where batches are drawn in secret, with its accountant. Epsilon, Delta and
// NoiseMultiplier return upper bounds; noise multipliers are over the largest norm of a column.
type Draw interface {
	Epsilon(delta, noiseMultiplier float64) (float64, error)
	Delta(epsilon, noiseMultiplier float64) (float64, error)
	NoiseMultiplier(epsilon, delta float64) (float64, error)
}

// Poisson is the Draw of Poisson sampling from so many groups.
type Poisson struct {
	pld.Rounds // of a group; the noise multiplier is given to the methods
	Groups     int
	Batches    Batches // the largest ones; the zero value: of any size
	Adjacency  accounting.Adjacency
}

// Overflow is Batches.Overflow of the rounds.
func (p Poisson) Overflow() float64 { return p.Batches.Overflow(p.Rounds, p.Groups) }

// Bounds returns bounds of the least ε, of what overflows leave of δ. It fails as Batches.Left and pld.Compose do.
func (p Poisson) Bounds(delta, noiseMultiplier float64) (pld.EpsilonBounds, error) {
	left, err := p.Batches.Left(delta, p.Rounds, p.Groups)
	if err != nil {
		return pld.EpsilonBounds{}, err
	}
	d, err := p.compose(noiseMultiplier)
	if err != nil {
		return pld.EpsilonBounds{}, err
	}
	return d.EpsilonBounds(left)
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

// NoiseMultiplier returns Calibrate's.
func (p Poisson) NoiseMultiplier(epsilon, delta float64) (float64, error) {
	c, err := p.Calibrate(epsilon, delta)
	return c.NoiseMultiplier, err
}

// Calibrate returns a noise multiplier with which the draw is (ε, δ)-DP, and what it gives. It fails as Batches.Left and
// pld.Calibrate do.
func (p Poisson) Calibrate(epsilon, delta float64) (pld.Privacy, error) {
	left, err := p.Batches.Left(delta, p.Rounds, p.Groups)
	if err != nil {
		return pld.Privacy{}, err
	}
	return pld.Calibrate(pld.Target{Probability: p.Probability, Rounds: p.Rounds.Rounds, Epsilon: epsilon, Delta: left,
		Adjacency: p.Adjacency})
}

// Scheme says how batches are drawn in the place of batches in turn: by random allocation if Of says so, and else by Poisson
// sampling.
type Scheme struct {
	Of        participation.Scheme
	Adjacency accounting.Adjacency // allocation is for accounting.ZeroOut alone
	Batches   Batches              // of participation.Truncated
}

// Draw returns what a record of the worst group goes through, with so many groups in the place of a schema's batches: as
// many records a batch, on average. It fails as allocation.ForBands does.
func (s Scheme) Draw(schema participation.Schema, groups int) (Draw, error) {
	switch s.Of {
	case participation.Allocation:
		return allocation.ForBands(schema.Steps(), schema.Participations(), groups)
	case participation.InTurn, participation.Poisson, participation.Truncated:
		return Poisson{pld.BandRounds(schema.Steps(), schema.Separation(), groups), groups, s.Batches, s.Adjacency}, nil
	}
	return nil, fault.New("Sampling", s.Of, "has an accountant of its own")
}

package pld

import (
	"mafalda/accounting"
	"mafalda/internal/fault"
)

// Mechanism is one round of the Poisson-subsampled Gaussian mechanism: each record takes part independently
// with the given probability, and the sum of the clipped contributions gets noise of NoiseMultiplier times the
// clipping norm.
type Mechanism struct {
	Probability     float64 `in:"(0,1]"` // q, above 0 and at most 1
	NoiseMultiplier float64 `in:"(0,)"`  // s = noise standard deviation / clip, MinNoiseMultiplier to MaxNoiseMultiplier
}

// Rounds is how often a Mechanism is run.
type Rounds struct {
	Mechanism
	Rounds int // 1 to MaxRounds
}

// What is accounted for: below the least noise multiplier one round tells nearly all, above the largest nearly nothing.
const (
	MinNoiseMultiplier = 0.01
	MaxNoiseMultiplier = 1e6
	MinProbability     = 1e-9
	MaxRounds          = 100_000_000 // of all events together
)

// BandRounds returns the rounds of a record of the largest group over some steps with some number of bands, where step t
// draws from group t mod bands: each time with probability bands/separation. It has no noise multiplier yet.
func BandRounds(steps, separation, bands int) Rounds {
	return Rounds{Rounds: (steps + bands - 1) / bands,
		Mechanism: Mechanism{Probability: float64(bands) / float64(separation)}}
}

// NoiseFor returns the noise multiplier with which these rounds are (ε, δ)-DP under an adjacency. It fails as Calibrate
// does.
func (e Rounds) NoiseFor(adjacency accounting.Adjacency, epsilon, delta float64) (float64, error) {
	p, err := Calibrate(Target{Probability: e.Probability, Rounds: e.Rounds, Epsilon: epsilon, Delta: delta,
		Adjacency: adjacency})
	return p.NoiseMultiplier, err
}

func (e Rounds) check() error {
	if err := fault.Ranges(e.Mechanism); err != nil {
		return err
	}
	switch q, s := e.Probability, e.NoiseMultiplier; {
	case q < MinProbability:
		return fault.New("Probability", q, "below %v is not accounted for", MinProbability)
	case s < MinNoiseMultiplier || s > MaxNoiseMultiplier:
		const most float64 = MaxNoiseMultiplier
		return fault.New("NoiseMultiplier", s, "must be between %v and %v", MinNoiseMultiplier, most)
	case e.Rounds < 1 || e.Rounds > MaxRounds:
		return fault.New("Rounds", e.Rounds, "must be between 1 and %d", MaxRounds)
	}
	return nil
}

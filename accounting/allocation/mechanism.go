package allocation

import (
	"cmp"
	"math"
	"slices"

	"mafalda/accounting"
	"mafalda/accounting/internal/parameter"
	"mafalda/accounting/internal/secant"
	"mafalda/internal/fault"
	"mafalda/internal/rounding"
)

// Blocks are as many blocks as Rounds, of Choices steps each: a record takes part in one step of each.
type Blocks struct{ Choices, Rounds int }

// Mechanism is what a record goes through. Neighbours differ in a record that one of them does not have
// (accounting.ZeroOut). Equal values are the same mechanism.
type Mechanism struct {
	blocks [2]Blocks // blocks of two sizes at most
	rounds int       // number of rounds of all blocks together
}

// Limits of what is accounted for.
const (
	MaxChoices = 1 << 14
	MaxRounds  = 1 << 11
	LeastDelta = 1e-100
)

// New returns the mechanism of blocks of up to two sizes. The errors are a fault.Argument of Choices or Rounds, also if
// there are no blocks.
func New(blocks ...Blocks) (m Mechanism, err error) {
	for _, b := range blocks {
		at := 0
		if m.rounds > 0 && m.blocks[0].Choices != b.Choices {
			at = 1
		}
		switch of := &m.blocks[at]; {
		case b.Rounds == 0:
		case b.Choices < 1 || b.Choices > MaxChoices:
			return m, fault.New("Choices", b.Choices, "must be from 1 to %d", MaxChoices)
		case b.Rounds < 0 || b.Rounds > MaxRounds-m.rounds:
			return m, fault.New("Rounds", b.Rounds, "must not be negative, nor above %d in all", MaxRounds)
		case of.Rounds > 0 && of.Choices != b.Choices:
			return m, fault.New("Choices", b.Choices, "is a third size")
		default:
			of.Choices, of.Rounds, m.rounds = b.Choices, of.Rounds+b.Rounds, m.rounds+b.Rounds
		}
	}
	if m.rounds == 0 {
		return m, fault.New("Rounds", 0, "there are no blocks")
	}
	return m, nil
}

func (m Mechanism) sizes() []Blocks {
	if m.blocks[1].Rounds == 0 {
		return m.blocks[:1]
	}
	return m.blocks[:]
}

// Cut divides steps into count blocks, as even as can be.
func Cut(steps, count int) []Blocks {
	short, more := steps/count, steps%count
	return []Blocks{{short + 1, more}, {short, count - more}}
}

// fineStep and coarseStep are steps of a grid of losses, in standard deviations of a block's loss: results are computed with
// fineStep, the first guess of NoiseMultiplier with coarseStep.
const fineStep, coarseStep = 0.012, 0.05

// Epsilon returns an ε for which the mechanism is (ε, δ)-DP with this noise multiplier: a little above the least. It is
// no more than the ε of noise where the draw is known. The errors are a fault.Argument of Delta, which is LeastDelta at
// least, or NoiseMultiplier.
func (m Mechanism) Epsilon(delta, noiseMultiplier float64) (float64, error) {
	if err := m.check(delta, noiseMultiplier); err != nil {
		return 0, err
	}
	return m.epsilon(delta, noiseMultiplier, fineStep)
}

func (m Mechanism) check(delta, noiseMultiplier float64) error {
	if err := cmp.Or(fault.CheckRange("Delta", delta, "(0,1)"), fault.Positive("NoiseMultiplier", noiseMultiplier)); err != nil {
		return err
	}
	if delta < LeastDelta {
		return fault.New("Delta", delta, "must be at least %v for random allocation", LeastDelta)
	}
	return nil
}

// knownDraw returns the μ where the step of every block is known.
func (m Mechanism) knownDraw(noise float64) float64 {
	return math.Sqrt(float64(m.rounds)) / noise * (1 + 0x1p-50)
}

// largestMu is the μ of a known draw from which on the draw hides nothing that is worth a grid.
const largestMu = 60

func (m Mechanism) epsilon(delta, noise, fine float64) (float64, error) {
	known, err := accounting.Epsilon(m.knownDraw(noise), delta)
	if err != nil || m.knownDraw(noise) > largestMu || m.secretless() {
		return known, err
	}
	l := m.compose(noise, delta, fine)
	if l.delta(0) <= delta {
		return 0, nil
	}
	low, high := 0.0, known
	if l.delta(high) > delta {
		return known, nil
	}
	_, high = rounding.Narrow(low, high, 1e-9, func(epsilon float64) bool { return !(l.delta(epsilon) <= delta) })
	return high, nil
}

func (m Mechanism) secretless() bool {
	return !slices.ContainsFunc(m.sizes(), func(b Blocks) bool { return b.Choices > 1 })
}

// Delta returns a δ for which the mechanism is (ε, δ)-DP with this noise multiplier: a little above the least. It fails
// with accounting.ErrParameter for numbers out of range.
func (m Mechanism) Delta(epsilon, noiseMultiplier float64) (float64, error) {
	if err := cmp.Or(parameter.NonNegative("epsilon", epsilon),
		parameter.Positive("noise multiplier", noiseMultiplier)); err != nil {
		return 0, err
	}
	known, err := accounting.Delta(m.knownDraw(noiseMultiplier), epsilon)
	if err != nil || m.knownDraw(noiseMultiplier) > largestMu || m.secretless() {
		return known, err
	}
	l := m.compose(noiseMultiplier, math.Max(known*1e-3, 1e-25), fineStep)
	if delta := l.delta(epsilon); delta < known { // which nothing is on a grid of losses that floating point cannot hold
		return delta, nil
	}
	return known, nil
}

// NoiseMultiplier returns a noise multiplier, of eight digits, with which the mechanism is (ε, δ)-DP, as Epsilon
// proves: the least but for 1e-4. The errors are a fault.Argument of Epsilon or Delta.
func (m Mechanism) NoiseMultiplier(epsilon, delta float64) (float64, error) {
	if err := cmp.Or(fault.Positive("Epsilon", epsilon), m.check(delta, 1)); err != nil {
		return 0, err
	}
	mu, err := accounting.MuFromDP(epsilon, delta)
	if err != nil {
		return 0, err
	}
	most := rounding.Up(m.knownDraw(1)/mu, 8) // the draw is known
	guess := most
	for _, fine := range []float64{coarseStep, fineStep} {
		if guess, err = m.root(epsilon, delta, guess, most, fine); err != nil {
			return 0, err
		}
	}
	return guess, nil
}

// root returns the least noise whose ε is at most the one asked for, up to most, from a guess.
func (m Mechanism) root(epsilon, delta, guess, most, fine float64) (float64, error) {
	search := secant.Search{Low: 1e-9 * most, High: most, Slope: -1, Epsilon: epsilon, Close: 5e-5,
		Margin: 2e-5, Tries: 60}
	found, err := search.Least(math.Log(guess), func(noise float64) (float64, error) { return m.epsilon(delta, noise, fine) },
		func(float64) bool { return false })
	return math.Min(found, most), err
}

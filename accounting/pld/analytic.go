package pld

import (
	"cmp"
	"math"

	"mafalda/accounting"
	"mafalda/internal/rounding"
)

// A Source is what proves an upper bound of the ε of a Distribution.
type Source string

// The sources. EveryRound is looser, and there for what no grid of losses can hold; all others are close.
const (
	Losses     Source = "losses"       // the distribution of the privacy loss, on a grid
	EveryRound Source = "every round"  // the same noise with every record in every round
	OneRound   Source = "one round"    // the formula for a single round, which is exact
	NoSampling Source = "no sampling"  // the formula for noise alone, which is exact
	Nothing    Source = "nothing told" // all rounds tell of a record with a probability of at most δ: ε is 0
)

// abouts are the sources in a few words.
var abouts = map[Source]string{
	Losses:     "the distribution of the privacy loss, on a grid",
	EveryRound: "the same noise with every record in every round: a fallback",
	OneRound:   "the formula for a single round",
	NoSampling: "the formula for noise without sampling",
	Nothing:    "rounds that together tell of a record with a probability of at most delta",
}

// About says in a few words what proves the bound.
func (s Source) About() string { return cmp.Or(abouts[s], string(s)) }

// EpsilonBounds are bounds of the smallest ε for which events are (ε, δ)-DP.
type EpsilonBounds struct {
	Upper float64 // an ε that holds
	Lower float64 // an ε that does not hold; 0 where none is known
	By    Source  // source of Upper: the accounting that proved it
}

// Accurate reports whether the bounds differ by no more than 0.2 % of the upper one.
func (b EpsilonBounds) Accurate() bool { return b.Upper-b.Lower <= 2e-3*b.Upper }

// oneRoundEpsilon returns bounds of the ε of a single round by a formula, within rounding: with e^ε = 1-q+q·e^ε' the
// δ of a removed record at ε is q times the Gaussian mechanism's δ at ε' (Balle, Barthe & Gaboardi, "Privacy
// Amplification by Subsampling", 2018, Theorem 8). That of an added one is no larger: it is c times the Gaussian's
// for e^ε·q/c, where c = q(1-(1-q)(e^ε'-1)) ≤ q and e^ε·q/c ≥ e^ε'. The bounds are +Inf and 0 of more than one round.
func (d *Distribution) oneRoundEpsilon(delta float64) (upper, lower float64) {
	if d.rounds != 1 || d.replace {
		return math.Inf(1), 0
	}
	q, s := d.events[0].Probability, d.events[0].NoiseMultiplier
	share := delta / q
	if !(share < 1) {
		return 0, 0
	}
	mu := rounding.DivUp(1, s)
	most, err := accounting.Epsilon(mu, share*(1-0x1p-50))
	if err != nil {
		return math.Inf(1), 0
	}
	amplified := func(epsilon float64) float64 {
		if epsilon > 600 {
			return epsilon + math.Log(q) + math.Log1p((1-q)/q*math.Exp(-epsilon))
		}
		return math.Log1p(q * math.Expm1(epsilon))
	}
	least := lowerEpsilon(mu, most, math.Min(1, share*(1+0x1p-50)))
	return amplified(most) * (1 + 1e-12), math.Max(0, amplified(least)*(1-1e-12))
}

package pld

import (
	"cmp"
	"math"

	"mafalda/accounting"
	"mafalda/internal/rounding"
)

// A Source is what proves an upper bound of the ε of a Distribution.
type Source string

// The sources. Draws and EveryRound are looser, and there for what no grid of losses can hold; all others are close.
const (
	Losses     Source = "losses"       // the distribution of the privacy loss, on a grid
	Draws      Source = "draws"        // how often a record is drawn, as if the attacker saw it
	EveryRound Source = "every round"  // the same noise with every record in every round
	OneRound   Source = "one round"    // the formula for a single round, which is exact
	NoSampling Source = "no sampling"  // the formula for noise alone, which is exact
	Nothing    Source = "nothing told" // all rounds tell of a record with a probability of at most δ: ε is 0
)

// abouts are the sources in a few words.
var abouts = map[Source]string{
	Losses:     "the distribution of the privacy loss, on a grid",
	Draws:      "how often a record is drawn, as if attackers saw it: a fallback",
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
	Lower float64 // it does not hold, or is 0 where nothing more is known
	By    Source  // of Upper
}

// Accurate reports whether the bounds differ by no more than 0.2 % of the upper one.
func (b EpsilonBounds) Accurate() bool { return b.Upper-b.Lower <= 2e-3*b.Upper }

// drawsEpsilon bounds ε by the number J of rounds that draw the record, for rounds that are all alike: δ(ε) is convex
// in a mixture over which rounds these are, of a removed as of an added record, and J of them are √J/s-GDP. So for
// every j
//
//	δ(ε) ≤ P(J > j) + P(J > 0)·δ_Gauss(√j/s, ε),
//
// with Chernoff's bound of the first probability and Nq for the second. It is +Inf where that proves nothing.
func (d *Distribution) drawsEpsilon(delta float64) float64 {
	if len(d.events) != 1 {
		return math.Inf(1)
	}
	e := d.events[0]
	n, q := float64(e.Rounds), e.Probability
	if q == 1 {
		return math.Inf(1)
	}
	// log P(J ≥ j) ≤ -n·KL(j/n ‖ q) for j ≥ nq, rounded up
	logTail := func(j float64) float64 {
		if j <= n*q {
			return 0
		}
		if j > n {
			return math.Inf(-1)
		}
		first, second := j*math.Log(j/(n*q)), 0.0
		if j < n {
			second = (n - j) * (math.Log1p(-j/n) - math.Log1p(-q))
		}
		return math.Min(0, -(first+second)+1e-13*(math.Abs(first)+math.Abs(second)+j))
	}
	half := rounding.Log(delta) - math.Ln2
	low, high := 0.0, n // the least number of draws that is exceeded with a probability of at most δ/2
	for high-low > 1 {
		if middle := math.Floor((low + high) / 2); logTail(middle+1) <= half {
			high = middle
		} else {
			low = middle
		}
	}
	share := rounding.Log(delta) - math.Ln2 - math.Log(math.Min(1, n*q)) - 1e-12
	if share >= 0 {
		return 0
	}
	within := math.Nextafter(math.Exp(share)*(1-1e-12), 0) // of δ, for the Gaussian mechanism
	mu := d.apart() * math.Sqrt(high) / e.NoiseMultiplier * (1 + 0x1p-50)
	if !(within > 0) || !(mu > 0) {
		return math.Inf(1)
	}
	epsilon, err := accounting.Epsilon(mu, within)
	if err != nil {
		return math.Inf(1)
	}
	return epsilon
}

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

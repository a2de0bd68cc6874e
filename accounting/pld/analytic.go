package pld

import "cmp"

// A Source is what proves an upper bound of the ε of a Distribution.
type Source string

// The sources. EveryRound is looser, and there for what no grid of losses can hold; all others are close.
const (
	Losses     Source = "losses"       // the distribution of the privacy loss, on a grid
	EveryRound Source = "every round"  // the same noise with every record in every round
	NoSampling Source = "no sampling"  // the formula for noise alone, which is exact
	Nothing    Source = "nothing told" // all rounds tell of a record with a probability of at most δ: ε is 0
)

// abouts are the sources in a few words.
var abouts = map[Source]string{
	Losses:     "the distribution of the privacy loss, on a grid",
	EveryRound: "the same noise with every record in every round: a fallback",
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

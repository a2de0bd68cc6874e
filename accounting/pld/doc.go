// Package pld accounts for Poisson sampling in secret by privacy loss distributions: Compose returns what rounds tell
// of a record, its Epsilon and Delta are bounds from both sides, and Calibrate finds the least noise for an (ε, δ).
//
// # Dominating pairs
//
// Where every record takes part in a round with a probability q of its own, and nobody learns in which rounds, a
// mechanism is not μ-GDP, and more private than its noise alone says. Such rounds are composed by Compose to a
// Distribution: the privacy losses log P/Q of the pair
//
//	P = (1-q)N(0, s²) + qN(1, s²), Q = N(0, s²)      for a removed record, and Q, P for an added one
//
// that dominates a round of noise multiplier s (Zhu, Dong & Wang 2022), of which ε and δ are known exactly: rounds
// add up independent losses, and δ(ε) = E_P(1 - e^{ε - loss})₊. The losses are put on a grid, whose multiples add up
// by a discrete Fourier transform, in two ways: one whose pair dominates the true one, and one that is dominated. So
// an ε comes with a lower bound that shows how accurate it is. The first divides a loss between the two neighbours on
// the grid ("connecting the dots", Doroshenko et al. 2022), the second takes together what lies around a point of it;
// both leave the masses under P and Q what they are, and the error is of second order in the grid's step. Counted
// into the bounds, too: the tails that are cut off; what lies beyond the window and comes around the transform's
// circle (by Chernoff's bound); the rounding of the transform, which is of tilted losses, so that it is small against
// the small δ; and every other rounding. Calibrate is the inverse. Where no grid holds the losses, formulas give a
// looser ε, and EpsilonBounds says which.
//
// The pair needs that the draw stays secret, batch sizes included, and that a sum is divided by the expected batch
// size. It does not describe batches that are shuffled, or cut by position. A record that is replaced by another has a pair
// of its own, with its proof in replaced.go.
//
// # Notation
//
//	q, s   probability of a record in a round, and noise multiplier of the sum
//	ε, δ   approximate DP
//	τ      tilt of a measure: its masses times e^{τ·loss}
//
// It knows no strategy: rounds are alike but for q and s. Every bound is rounded to its own side.
package pld

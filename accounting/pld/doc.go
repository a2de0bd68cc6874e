// Package pld accounts for Poisson sampling in secret by privacy loss distributions: Compose returns what rounds tell
// of a record, its Epsilon and Delta are bounds from both sides, and Calibrate finds the least noise for an (ε, δ).
//
// # Dominating pairs
//
// Let every record take part in a round with probability q, independently of all others, and let it stay secret in
// which rounds it does. A mechanism is then more private than its noise alone says, and it is not μ-GDP. Compose makes a
// Distribution of such rounds, the distribution of the privacy losses log P/Q of the pair
//
//	P = (1-q)N(0, s²) + qN(1, s²), Q = N(0, s²)      for a removed record, and Q, P for an added one
//
// The pair dominates a round of noise multiplier s (Zhu, Dong & Wang 2022), and its ε and δ are known exactly: losses of
// rounds are independent and add up, and δ(ε) = E_P(1 - e^{ε - loss})₊. The losses are put on a grid in two ways, and added
// up there by a discrete Fourier transform. The first way gives a pair that dominates the true one, the second a pair that the
// true one dominates: an ε comes with a lower bound that shows how accurate it is. The first way divides a loss between its
// two neighbours on the grid ("connecting the dots", Doroshenko et al. 2022), the second puts the losses around a point
// of the grid on that point; both leave the masses under P and Q what they are, and the error is of second order in the
// grid's step. The bounds also contain the tails that are cut off; what lies beyond the window and comes around the
// transform's circle (by Chernoff's bound); the rounding of the transform, which is of tilted losses, and so small against a
// small δ; and every other rounding. Calibrate is the inverse. Where no grid holds the losses, a formula gives a looser ε,
// and EpsilonBounds.By says which formula.
//
// The pair needs that the draw stays secret, batch sizes included, and that a sum is divided by the expected batch
// size. It does not describe batches that are shuffled, or cut by position. A record that is replaced by another has a pair
// of its own, with its proof in replaced.go.
//
// # Accuracy
//
// The masses are integrals by Gaussian quadrature with a relative error below 1e-12 (tests find 4e-14), which the number of
// rounds multiplies and the bounds contain. Bins are narrow where the mass is and wide in the tails: some hundred to some
// thousand of them, also for a million rounds. The few coefficients that matter after many rounds are summed one by one:
// their logarithm is multiplied by the rounds, and summed as differences from 1 it keeps its digits. Grids are made finer
// until the bounds differ by less than 0.12 % of ε, at most three times.
//
// Bounds are at most 0.2 % apart for q ≥ 1e-3, noise multipliers from 0.5 to 100, up to 10⁶ rounds, δ from 1e-12 to 0.5 and ε
// up to 1000; so were 300 random cases (q from 1e-3 to 1, multipliers from 0.4 to 50, up to 10⁶ rounds, δ from 1e-12 to 1e-3).
// Elsewhere the upper bound holds, and is further from the lower one:
//
//	10⁸ rounds                            some percent
//	q < 5e-4, some thousand rounds or     up to 5 % of ε: nearly all mass is at a loss of 0, and the transform's error
//	fewer, δ < 1e-9                       for the largest masses is not small against δ
//	q of 1e-5 and less, many rounds       nearly all losses are far below the step of any grid: EveryRound, or far more noise
//	δ near 1, ε of many thousands,        the lower bound may be 0
//	records hardly ever drawn
//	δ < 1e-20, or no grid                 EveryRound, as if every round drew the record: μ = √rounds/s, and a lower bound of 0
//
// # Cost
//
// On one core an ε takes 10 ms for q = 1/19 and 380 rounds, 0.3 s for q = 1e-4 and 10⁶ rounds; a calibration some 10 ms as a
// rule, and 0.7 s where single large losses decide (q = 1e-4, 10⁶ rounds): each grid is chosen by the last one. The transform
// leaves out the loss of a round that tells nearly nothing, so that its rounding is relative to the rare large losses. After
// 2²³ points of grids a search ends with the noise it has, which is proven to be enough but may be more than need be.
//
// # Notation
//
//	q, s   probability of a record in a round, and noise multiplier of the sum
//	ε, δ   approximate DP
//	τ      tilt of a measure: its masses times e^{τ·loss}
//
// The package knows no strategy: rounds are alike but for q and s. Every bound is rounded to its own side.
package pld

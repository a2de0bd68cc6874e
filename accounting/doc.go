// Package accounting converts between the currencies of privacy and calibrates noise.
//
// # μ-GDP
//
// A mechanism is μ-GDP if telling two neighbouring datasets apart is no easier than telling N(0,1) from N(μ,1)
// (Dong, Roth & Su 2022). A matrix mechanism with Gaussian noise of standard deviation ν is exactly
// sens·contribution/ν-GDP, also under adaptive gradients (Bellet et al., Theorem 7). μ-GDP is
//
//	(ε, δ)-DP   for δ(ε) = Φ(-ε/μ + μ/2) - e^ε Φ(-ε/μ - μ/2), exactly   (Delta, LogDelta, Epsilon, MuFromDP)
//	(α, αμ²/2)-RDP for every α > 1                                      (RDP, MuFromRDP)
//
// and T mechanisms of μ_t compose to √Σμ_t² (Compose). Renyi DP converts back to (ε, δ) only with a loss (Canonne,
// Kamath & Steinke 2020): of one order by EpsilonFromRDP and DeltaFromRDP, of a whole Curve by EpsilonByCurve and
// DeltaByCurve.
//
// The exact δ is the difference of two numbers that agree to many digits where μ is small. It is computed through
// Mills' ratio, or the integral of its derivative, in logarithms: to 12 digits for μ from 1e-4 to 1e3 and any ε.
//
// # Secret sampling
//
// Where every record takes part in a round with a probability q of its own, and nobody learns in which rounds, a
// mechanism is not μ-GDP, and more private than its noise alone says. Such rounds are composed by ComposeSampled to a
// LossDistribution: the privacy losses log P/Q of the pair
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
// the small δ; and every other rounding. CalibrateSampled is the inverse. Where no grid holds the losses, formulas give a
// looser ε, and EpsilonBounds says which.
//
// The pair needs that the draw stays secret, batch sizes included, and that a sum is divided by the expected batch
// size. It does not describe batches that are shuffled, or cut by position, or a record that is replaced by another.
//
// # The safe side
//
// Every conversion is rounded towards less privacy: an ε, δ or Renyi divergence is never reported below the exact
// value, nor is a μ that noise or a Renyi divergence gives (MuFromNoise, MuFromRDP, Compose); a μ that meets a
// target is never above it (MuFromDP); a noise standard deviation or multiplier is never below what is needed
// (NoiseStd, Calibrate). What this costs is in the 11th digit where logarithms of δ are involved, and in the last
// digit elsewhere.
//
// # What one record can change
//
// The noise is added to sums of gradients clipped to norm clip. Under zero-out adjacency a record is replaced by
// nothing and moves the sum by at most clip; under replace-one adjacency (Bellet et al., Section 4.1) by at most
// 2·clip. See Adjacency.
//
// # Random bins
//
// Who keeps secret in which batch a record is gives away less than μ-GDP says. Bins accounts for batches that are drawn
// once, every record's independently and uniformly, for a strategy without negative entries: by importance sampling, with
// an upper bound on δ and the probability that it fails. Delta, Epsilon and NoiseMultiplier are its methods.
//
// # Notation
//
//	μ   mu     GDP parameter; σ = 1/μ is the noise multiplier
//	ε, δ       approximate DP
//	α, ρ       Renyi order, Renyi divergence bound
//	q, s       probability of a record in a round, and noise multiplier of the sum, of a sampled mechanism
//	clip       norm to which each record's gradient is clipped
package accounting

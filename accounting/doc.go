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
// Kamath & Steinke 2020): of one order by EpsilonFromRDP, of all orders by EpsilonByRDP.
//
// The exact δ is the difference of two numbers that agree to many digits where μ is small. It is computed through
// Mills' ratio, or the integral of its derivative, in logarithms: to 12 digits for μ from 1e-4 to 1e3 and any ε.
//
// # Secret sampling
//
// Where every record takes part in a round with a probability of its own, or in one batch of many, and it stays secret in
// which, a mechanism is not μ-GDP, and more private than its noise alone says. The packages pld (Poisson sampling)
// and bins (random bins) account for that; both build on this one.
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
// # Notation
//
//	μ   mu     GDP parameter; σ = 1/μ is the noise multiplier
//	ε, δ       approximate DP
//	α, ρ       Renyi order, Renyi divergence bound
//	clip       norm to which each record's gradient is clipped
package accounting

// Package dpps is differentially private perturbed push-sum (DPPS; Zhou, Xue & Chen), which adds Laplace noise to
// every message of every round, calibrated to how far apart the nodes' messages can be:
//
//	s_i ← Σ_j w_ij (s_j + ε_j + γ n_j),    n ~ Lap(S/b),    S ≥ max ‖s_i + ε_i - s_j - ε_j‖₁
//
// S is estimated by a recursion with two constants C′ and λ. With the paper's constants it can be too small;
// Sequence.Calibrate finds sound ones, and Sequence.SoundConstant tells for which it is. A round whose
// estimate is below the truth is an error, never a result.
//
// # What is promised
//
// In a round, given S, it is hidden whose message an answer is, with ε = b/γ. The estimate covers one round; rounds
// do not compose, and S itself is broadcast (docs/protocols.md). Noise is simulated: it comes from a generator
// with a seed.
//
// # Notation
//
//	s, y, a   push-sum: what is shared, corrected parameters y = s/a, normalizing scalars
//	Φ         product of the weight matrices of some rounds
//	τ         ergodicity coefficient (Dobrushin): half the largest distance of two rows in the norm ‖·‖₁
package dpps

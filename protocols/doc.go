// Package protocols has the private averaging protocols beside MF-D-SGD: PPAC, DPPS, what is built on it (PartPSP),
// and gossip with Gaussian noise to hold them against.
//
// # PPAC
//
// Provably private averaging consensus (Fereydounian, Mokhtari, Pedarsani & Hassani) adds no noise to the average.
// Node i splits its value u_i into fragments, one for each neighbour,
//
//	u_i = Σ_{j ∈ N_i} Γ_ij,       Γ_ij noise for j ≠ m_i,
//
// starts from v_i(0) = Σ_j Γ_ji, and averages: v(t+1) = W v(t). Whatever a node learns is linear in the 2·edges
// sources of randomness (the values, and the noise), and the loss of privacy is information: π = I(what node i sees;
// u_j), in nats. View and Leakages compute it; ExactView is the definition, in rational numbers. A value may be
// recovered altogether; GeneralizedLeaves and Recoverable find these cases by looking at the graph, and Recover
// carries the attack out.
//
// # DPPS
//
// Differentially private perturbed push-sum (Zhou, Xue & Chen) adds Laplace noise to every message of every round,
// calibrated to how far apart the nodes' messages can be:
//
//	s_i ← Σ_j w_ij (s_j + ε_j + γ n_j),    n ~ Lap(S/b),    S ≥ max ‖s_i + ε_i - s_j - ε_j‖₁
//
// S is estimated by a recursion with two constants C′ and λ. With those of the paper it can be too small;
// Sequence.Calibrate finds some that are sound, and Sequence.SoundConstant tells for which it is. A round whose
// estimate is below the truth is an error, never a result. The estimate covers one round; rounds do not compose
// (docs/protocols.md).
//
// # PartPSP
//
// Training on top of DPPS: some layers of a model are shared, the others stay with their node.
//
// # What is promised, and to whom
//
// PPAC hides from single nodes, or a coalition, as much as the information-theoretic leakage says, for Gaussian
// values and noise, and nothing from an observer of all messages. DPPS hides, in a round, whose message an answer is.
// Gossip with Gaussian noise gives differential privacy to every value against everybody. These are not comparable as
// numbers: docs/protocols.md.
//
// # Notation
//
//	n, m      nodes, undirected edges
//	W         consensus matrix, n×n: W1 = Wᵀ1 = 1
//	u, v(t)   private values; what nodes hold in round t
//	Γ, m_i    fragments; the neighbour whose fragment completes the sum
//	s, y, a   push-sum: what is shared, corrected parameters y = s/a, normalizing scalars
//	Φ         product of the weight matrices of some rounds
//	τ         ergodicity coefficient (Dobrushin): half the largest distance of two rows in the norm ‖·‖₁
package protocols

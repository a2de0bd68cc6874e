// Package allocation accounts for random allocation: the steps are cut into blocks, and every record takes part in
// exactly one step of each block, drawn in secret, independently of all others and uniformly. Epsilon, Delta and
// NoiseMultiplier of a Mechanism are upper bounds by the distribution of the privacy loss, without samples.
//
// # Dominating pairs
//
// For one block of c steps, noise multiplier s and contributions of norm at most one the pair
//
//	P = (1/c) Σ_j N(e_j, s²I)     and     Q = N(0, s²I)      (c numbers)
//
// dominates, also under adaptive gradients: P, Q for a removed record, Q, P for an added one. Blocks are drawn
// independently, so that their losses add up.
//
// Proof. C has at most w bands and columns of norm at most one; the group is known to the attacker, which can only tell more.
// Multiplied by C, what is seen has rows of noise N(0, s²I), other records' contributions, which are functions of earlier
// rows, and, if the record takes part in step t, c_t g_tᵀ in the rows t ... t+w-1, with g_t a function of the rows before t
// and |g_t| ≤ 1. No two steps of a group have a row in common. With x the rows less what others contribute, and
//
//	E_t = exp(⟨c_t g_tᵀ, x⟩/s² - |c_t|²|g_t|²/2s²),
//
// the likelihood ratio of "with the record" to "without" is
//
//	L = Σ_S p_S Π_{t∈S} E_t = Π_blocks (1/c) Σ_{t in the block} E_t,
//
// p_S the chance that the record takes part in the steps S. Under Q, given the rows before t, E_t is lognormal of mean one,
// with a logarithm of variance r²/s², r = |c_t||g_t| ≤ 1.
//
// Let W_t be independent lognormal of mean one and variance parameter 1/s², and L* the same polynomial of them. Then
// E_Q φ(L) ≤ E φ(L*) for every convex φ: L is affine in each E_t, with coefficients that are not negative. Take the last step
// T: given the rows before, φ(L) is a convex function of E_T, and E_T is a conditional expectation of W_T (stop geometric
// Brownian motion earlier), so that Jensen's inequality replaces it by W_T, independent of all. What is left, averaged over
// W_T, is a convex function of E_{T-1} given the rows before, and so on. This holds for any distribution of S, for
// contributions of any signs and directions, in any dimension, and for gradients that depend on all that was seen.
//
// δ of a removed record is E_Q (L - e^ε)₊, of an added one E_Q (1 - e^ε L)₊: both convex in L. So L* dominates, in both
// directions, and it is reached by contributions of norm one that do not change: the pair is exact.
//
// Fewer steps hide less: (W_1 + ... + W_{c+1})/(c+1) is the conditional expectation, given all W, of the mean of c of them
// that are drawn at random, smaller in convex order than the mean of c. So groups of ⌊T/w⌋ steps are the worst.
//
// k of T steps without replacement, without blocks, are no worse than k blocks of T/k steps: a subset of k steps is drawn by
// cutting the steps at random into k blocks and drawing one of each, so that its L* is the conditional expectation, given the
// W, of the L* with the cut known.
//
// # The grid
//
// dP/dQ = (W_1 + ... + W_c)/c with independent lognormal W_j of mean one under Q. A pair of the same form whose dP/dQ
// is larger in convex order dominates, in both directions and in compositions (Blackwell). So every W_j, and every mean of some,
// is put on a grid of logarithms by dividing its mass between the neighbours above and below it without a change of
// the mean. What lies below the grid is divided between its lowest point and 0, what lies above between its highest
// point and infinity. The error is of second order in the step. Means of m steps are on a grid coarser by √(c/m), by doubling.
// Large losses of less than 1e-5 of δ count as infinite, small ones are rounded up. All terms are positive, and their
// rounding is added.
//
// # Notation
//
//	c, k, s   steps of a block, blocks, noise multiplier
//	W         e^y, y ~ N(-1/2s², 1/s²) under Q: what one step of a block tells
//	h         step of a grid of losses
package allocation

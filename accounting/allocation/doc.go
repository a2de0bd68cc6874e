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
// independently, so that their losses add up. docs/sampling-allocation.md has the proof, and why k of T steps without
// replacement are no worse than k blocks of T/k steps.
//
// # The grid
//
// dP/dQ = (W_1 + ... + W_c)/c with independent lognormal W_j of mean one under Q. A pair of the same form whose dP/dQ
// is larger in convex order dominates, in both directions and in compositions (Blackwell). So every W_j, and every mean of some,
// is put on a grid of logarithms by dividing its mass between the neighbours above and below it without a change of
// the mean. What lies below the grid is divided between its lowest point and 0, what lies above between its highest
// point and infinity. The error is of second order in the step. All terms are positive, and their rounding is added.
//
// # Notation
//
//	c, k, s   steps of a block, blocks, noise multiplier
//	W         e^y, y ~ N(-1/2s², 1/s²) under Q: what one step of a block tells
//	h         step of a grid of losses
package allocation

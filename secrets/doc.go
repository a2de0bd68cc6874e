// Package secrets is noise that nodes share: which pairs of nodes have a secret in common, who may collude against
// them, the covariance that their noise has in one step, and what attackers then learn of a victim.
//
// # Noise in space
//
// In every step node i draws a row of noise of its own and, with every node j that it shares a secret with, a row that
// both know and that the one adds and the other subtracts:
//
//	ζ_i = √s_i · own_i + Σ_j ± √e_ij · shared_ij.
//
// Averaging cancels what is shared, wholly or in part; an attacker who does not know the secret sees it all. Over the
// nodes the noise of a step has the covariance
//
//	M = diag(s) + Σ_ij e_ij (d_i - d_j)(d_i - d_j)ᵀ,        n×n, d_i a unit vector.
//
// Correlated over time by a strategy C, the noise has the covariance M ⊗ (CᵀC)⁻¹.
//
// # Attackers
//
// An attacker is a coalition A of curious nodes. It sees all messages, and knows its own noise and all that is shared
// with one of its nodes. What is left to protect the others is
//
//	M_A = M on the nodes outside of A, without the pairs that touch A.
//
// The messages of all victims are a Gaussian mechanism; for a change of v's gradients it is as good as one with noise
// of variance 1/[M_A⁻¹]_vv at v alone. For two runs differ in v's gradients alone; all others are known to the
// attacker at worst. The messages are G + N, N of covariance M_A ⊗ (CᵀC)⁻¹, and v's gradients enter as d_v ⊗ g. What
// counts of the messages is their projection by M_A⁻¹d_v/[M_A⁻¹]_vv over the nodes: g plus noise of covariance
// (CᵀC)⁻¹/[M_A⁻¹]_vv over the steps. Adaptive gradients and batches that are drawn in secret do not change that. So
// with max [M_A⁻¹]_vv = 1 over all attackers and victims, every node is protected as if it had drawn noise of its own
// of variance one, and the guarantee is local differential privacy: μ = contribution · sens(C) / ν. The empty
// coalition is the eavesdropper, who shares no secret. A part of a coalition is an attacker, too, of its other
// members as well. A larger coalition learns more: attackers within others need no check (Attackers.Threats). A node
// that is in no coalition is trusted.
//
// # Safety
//
// A Noise holds standard deviations, exactly as nodes read and draw them, not the variances that an optimizer works
// with. Noise.Worst bounds max [M_A⁻¹]_vv for these numbers from above, with the rounding of every operation in the
// bound: by Cholesky factors of every M_A (factors.go), or by updates of one inverse, whose residual is bounded
// (updates.go). The second way takes a second for a thousand nodes with ten secrets each.
//
// # Notation
//
//	n       nodes
//	s, e    variances of own noise, and of the noise of pairs
//	M, M_A  covariance of a step's noise; what of it an attacker does not know
//
// The package knows nothing of gossip, time, or how good noise is found (package factorize/spacetime). Source: Allouah,
// Koloskova, El Firdoussi, Jaggi, Guerraoui, "The Privacy Power of Correlated Noise in Decentralized Learning" (DECOR,
// 2024), for noise of pairs and SecLDP.
package secrets

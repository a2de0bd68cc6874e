// Package ppac is provably private averaging consensus (PPAC; Fereydounian, Mokhtari, Pedarsani & Hassani), which
// adds no noise to the average. Node i splits its value u_i into fragments, one for each neighbour,
//
//	u_i = Σ_{j ∈ N_i} Γ_ij,       Γ_ij noise for j ≠ m_i,
//
// starts from v_i(0) = Σ_j Γ_ji, and averages: v(t+1) = W v(t). Whatever a node learns is linear in the 2·edges
// sources of randomness (the values, and the noise), and the loss of privacy is information: π = I(what node i sees;
// u_j), in nats. Protocol.View and View.Leakages compute it; the tests have its definition in rational numbers. A
// value may be recovered altogether; GeneralizedLeaves and Recoverable find these cases by looking at the graph, and
// Recover carries the attack out.
//
// # What is promised
//
// Leakages are upper bounds, and infinite if and only if a value is recovered. They are for Gaussian values and
// noise, and for single nodes, or coalitions, that follow the protocol: who sees all fragments adds them up.
//
// # Notation
//
//	n, m      nodes, undirected edges
//	W         consensus matrix, n×n: W1 = Wᵀ1 = 1
//	u, v(t)   private values; what nodes hold in round t
//	Γ, m_i    fragments; the neighbour whose fragment completes the sum
package ppac

// Package randomgossip knows gossip matrices that are drawn anew in every round: nodes that fail, links that fail,
// neighbours at random. It draws them, and it knows what errors depend on in expectation, the mean E[W] and the map
//
//	M ↦ E[WᵀMW] = Σ_ij M[i,j] E[w_i w_jᵀ],     w_i the i-th row of W,
//
// in closed form where the rows of W are uniform: every node averages over itself and its neighbours with the same
// weight. A Law holds that map less the part of the mean, E[W]ᵀ M E[W], which is known to who has the mean.
//
// # Failures
//
// With q = 1 - p, and S = 1 + the number of neighbours left, a node that has d of them averages with weights 1/S. All
// moments are inverse moments of binomial variables, which are sums of at most d+1 positive terms:
//
//	e_k(c, m) = E[(c + B)^-k],     B binomial of m trials with probability q.
//
// Rows share what their randomness has in common: the link between two nodes, or neighbours and each other. Given that,
// they are independent.
//
// # Random neighbours
//
// A node averages over itself and s others, drawn uniformly from all. Rows are independent, and everything is symmetric
// under permutations of the nodes, so that two numbers stand for a matrix (Neighbours).
package randomgossip

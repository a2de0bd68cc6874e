// Package workload turns a gossip matrix into the workload of a decentralized learning algorithm and its Gram matrix.
//
// # What a workload is
//
// In every step each of n nodes adds a (noisy) gradient to its model and averages with its neighbours. Stack the steps:
// with G and Z of nT rows, "time, then node", the messages are W_T (G + noise), where
//
//	      | I                 |
//	W_T = | W      I          |      block (t, s) = W^(t-s),
//	      | W²     W     I    |
//	      | ⋮            ⋱    |
//
// and the averaged models, whose error is what learning suffers from, are (I ⊗ W) W_T: every exponent one higher.
//
// # Why T×T is enough
//
// All nodes correlate their noise with the same T×T strategy C. The squared error of the models is then tr(C⁻ᵀ H C⁻¹)
// with
//
//	H = Σ_i A_iᵀ A_i,   A_i = the columns of node i of (I ⊗ W) W_T K^(T,n),
//
// and the commutation matrix K^(T,n) re-sorts the columns as "node, then time" (Bellet et al., Lemma 10). H is all that
// a factorization has to know of the network.
//
// # The way to H
//
// The definition runs the recursion of training on an impulse of noise for every step and node, which takes nT×nT numbers:
// the tests do. Gram never builds anything of that size. With K[a,b] = ⟨W^a, W^b⟩, the Frobenius product,
//
//	H[s,s'] = H[s+1,s'+1] + K[T-s, T-s']       (0-based; message workload: both exponents one lower)
//
// and K comes from the sequences W^a e_i, one node after the other, or, for symmetric W, from its eigenvalues alone.
//
// # Workloads that people train
//
// A Spec says what else happens: momentum, learning rates that change, weight decay, local steps, several rounds of
// gossip, gradient tracking, networks that change or fail, missed steps, and which steps count. Noise enters where the
// gradient enters, and all that follows is linear, so that only H changes. State is the recursion itself, for
// simulations and for the definition alike.
//
// Where the network stays, that is a congruence with what a node does with its own gradients (filter), and weights of
// powers that decay and gossip choose (lagged, tracked). Networks that change, or are drawn independently from step to
// step, have a backward recursion (changing), over matrices or, for random neighbours, over two numbers; package
// randomgossip computes the expectations. Where there is no exact form, runs on random signs estimate it
// (Sampled). docs/workloads.md says what is exact, and what it is worth to know.
//
// # Large networks, many steps
//
// A Sketch knows a large network from a few Lanczos runs and gives an estimate of H, with its errors (Deviations) and
// how sure they are (Factor, Confidence). A Response gives the squared error of Toeplitz strategies without H, from
// the eigenvalues of W or from a sketch.
//
// # Notation
//
//	n, T  nodes, steps
//	W     gossip matrix   n×n, row-stochastic, any sparsity, directed or not
//	H     Gram matrix     T×T, symmetric, positive definite
//
// The package knows nothing of privacy, participation or strategies.
//
// Source: Bellet, Cyffers, Frey, Gaudel, Lerévérend, Taïani, "Unified Privacy Guarantees for Decentralized Learning via
// Matrix Factorization", Section 6, Lemma 10 and Algorithm 2.
package workload

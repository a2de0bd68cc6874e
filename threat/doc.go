// Package threat says what an attacker learns: every decentralized algorithm and trust model as a linear view with
// Gaussian noise, and the matrix M that turns it into a sensitivity.
//
// # Views
//
// Whatever an attacker knows of a run is linear in the gradients G and the noise Z (Bellet et al., Definition 4):
//
//	O = A G + B Z,
//
// once the gradients that it knows itself have been taken out (Lemma 11). If A_u are the columns of one victim, its
// gradients are protected as by a Gaussian mechanism of squared sensitivity ⟨ΔG ΔGᵀ, M⟩,
//
//	M = A_uᵀ (B Bᵀ)⁺ A_u,        T×T,
//
// which is (CᵀB⁺BC)_u of Theorem 7. Package participation bounds it for a schema. With independent noise of unit
// variance M ≤ I: no attacker learns more than from all messages together (LDP).
//
// # What the numbers hold for
//
// Theorem 7 lets gradients depend on what the attacker saw. Under LDP and SecLDP that is everything, so the numbers
// hold for training. Under PNDP (single messages or secure sums) nodes that the attacker does not see compute
// gradients at models that it does not see either, and M is for inputs that do not react to what hidden nodes learned
// (averaging, fixed streams); a network that trains has the local-DP number, or the bound of package reaction for its
// class of gradients. A Reaction says which of these Assess and Growth report; Report.HoldsFor says it in words, and
// the number of M stands beside the others as Pair.WithoutReaction. docs/network-privacy.md has the counterexample
// and the theorem.
//
// # Two ways to M
//
// Explicit runs the algorithm on symbols, writes A and B out and takes the pseudo-inverse. It is the definition, and
// needs (nT)² numbers. Account never forms anything of that size: the attacker's best statistic is the innovation of a
// Kalman filter, so that M follows from the filter's gains (forward), the energy of later innovations (backward), and
// how a gradient's trace runs through both (respond).
//
// # The filter
//
// Let m_t be the messages of step t, before averaging. For every algorithm the attackers 𝒜 know the rows of W m_t that
// they compute, what they send, and their own noise. N are the nodes whose messages they do not know completely. In
// every round
//
//	m = J x + g + noise,      y = H m,      x' = G m,
//
// where x is what the attacker does not know of the past, y what it learns now, and everything it knows is left out:
//
//	                                     N       x      J        H                          G
//	single messages, seen O, unseen U    O ∪ U   m[U]   W[N,U]   picks O                    picks U
//	weighted sums                        not 𝒜   m      W[N,N]   W[𝒜,N], independent rows   I
//	sums under the attackers' own noise  all     m      W        picks 𝒜                    I
//
// Attackers always know the messages they send, also with W[a,a] = 0: their state is a combination of messages
// received. That is why 𝒜 is in neither O nor U; T redundant rows would make S below singular.
//
// Independent noise has covariance I over N. DECOR's has own²·I + shared²·L with L the Laplacian of the edges within N:
// what is on an edge to an attacker is known and does not count. Noise that a node correlates over time is a small
// filter, ξ = Λp + δz, p' = Φp + Ψz, and p joins the state. Muffliato-SGD(K) has K rounds a step, of which one has
// gradients and noise. Zip-DL has noise ξ_ji for every message, zero-sum over a sender's messages, and the state θ[N].
//
// With P the covariance of x given everything seen so far, F = GJ (and the filter), C = HJ, E = G, D = H, and [Q X; Xᵀ
// R] the covariance of the noise in (x', y):
//
//	S = C P Cᵀ + R,    K = (F P Cᵀ + X) S⁻¹,    P' = F P Fᵀ + Q - K (F P Cᵀ + X)ᵀ.
//
// The innovations y - C x̂ are independent with covariance S, so they are the attacker's best statistics. A unit gradient
// of u in step k moves the innovation of step k by D e_u, the filter's error after it by d = (E - KD) e_u, and d moves on
// by F - KC. With the energy of later innovations Γ_t = Cᵀ S⁻¹ C + (F-KC)ᵀ Γ_{t+1} (F-KC), Γ_T = 0,
//
//	M[k,k] = (De_u)ᵀ S_k⁻¹ De_u + d_kᵀ Γ_{k+1} d_k
//	M[k,l] = [(F-KC)_{l-1} ⋯ (F-KC)_{k+1} d_k]ᵀ c_l,     c_l = Cᵀ S_l⁻¹ D e_u + (F-KC)_lᵀ Γ_{l+1} (E-K_lD) e_u      (k < l).
//
// The products are formed by halves (batch). With independent noise of every node S ≥ 1: plain Cholesky, no rank
// decisions, and far victims keep their digits. Otherwise S can be singular (innovation).
//
// A victim costs O(T log T m²), m the size of the state. Noise over time adds to it, per node: AntiPGD 1 number, w bands and
// banded inverses w - 1, BLT one a buffer. Who sees all messages needs no filter (M is CᵀC, or that of shared noise), but for
// Zip-DL. A dense strategy has no filter of its own: the covariance of everything seen has (pT)² numbers, p seen in each step.
//
// # What is tested
//
// TestAccountIsDefinition holds M of every algorithm and trust against Explicit, TestTrainedIsDefinition with training,
// TestSharedAccountIsTheDefinition for noise that nodes share, TestLDPIsTheStrategy against CᵀC; TestAudit attacks, by
// Monte-Carlo.
//
// # From M to a report
//
// Measure turns M into a squared sensitivity: a proven bound, or what is certainly lost. Assess does so for every pair
// of one attacker with a node, and adds μ, ε and the Rényi divergence, all rounded up; Growth for many numbers of
// steps. Study has both as cells of package study: plain data, for several processes. Audit attacks the simulated
// protocol, to prove what Account says wrong.
//
// # Training
//
// A Training, given to an Algorithm by Under, is an optimizer and networks that change. Messages are then sums over
// what nodes made of many noisy gradients, with matrices that differ from round to round; M belongs to the same
// filter, whose state holds, for every node that does not attack, its last message if not all of them are seen, its
// momentum, its tracker with the last noisy gradient, rows that wait, and the memory of its noise. Every round of
// gossip is a stage of the filter, the first of a step together with the step. A dense strategy goes by the
// covariance of everything seen, from the recursion workload.State on unit impulses, factored round by round;
// Explicit runs workload.State on symbols.
//
// Momentum, rates and decay act after the noise, at the node that added it. On one node's own messages they are an
// invertible filter F = DN, and everybody knows it: alone they would change nothing. But what others do with a
// message does not commute with it. With g' = F(g + ξ) the view is that of plain gradient descent with the strategy C
// F⁻¹, and M = Fᵀ M' F, M' of that strategy. Decay by a constant factor f is a factor f^t on what is seen, which an
// attacker who knows f takes out again; it is the same as rates that grow by 1/f. Networks and absences that are
// drawn come from a seed, and M is for these alone: Assess reports local DP for all draws, less what none lets
// arrive, and the seed's numbers apart.
//
// Fresh noise has the variance η_t², which a cosine takes down to (π/2T)⁴. A matrix of error bounds runs through the
// filter (scaled.go). With 60 digits (path of 8, rates from 1 down to 3e-5 in 10 steps) M is 1.4e-8 above the truth,
// nowhere below.
//
// # Secret batches
//
// What is seen above is for records whose steps the attacker knows. Package sampled attacks mechanisms whose batches
// are drawn in secret, by the exact likelihood ratio of what nodes do, from draws of the samplers of package
// participation. docs/sampling-audit.md says what it can and cannot find.
//
// # Notation
//
//	n, T   nodes, steps
//	W      gossip matrix: node v averages over the u with W[v,u] > 0, whose messages it receives
//	m, p   numbers the attacker does not know (state), numbers it observes in a round
//	P, S   covariances of the state and of the innovation; K the gain
//	Γ      energy of all later innovations, as a quadratic form of the state
package threat

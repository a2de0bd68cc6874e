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
// how a gradient's trace runs through both (respond). docs/threat-models.md derives it.
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
// filter, whose state holds momentum and trackers, too. Networks and absences that are drawn come from a seed, and
// M is for these alone: Assess reports local DP for all draws, less what none lets arrive, and the seed's numbers apart.
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

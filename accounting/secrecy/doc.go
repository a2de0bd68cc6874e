// Package secrecy says how much a record may change the messages of a mechanism that is (ε, δ)-DP because its batches
// are drawn in secret: upper bounds that hold for every strategy, whatever its class. They are the privacy half of a
// lower bound for errors; factorize.SecretBound is the other one.
//
// # Notation
//
//	C, ν    strategy and noise: what is seen, times C, is a change plus N(0, ν²I)
//	ω       the steps that a record takes part in, drawn in secret
//	m_ω     what the record changes then: Σ_{t∈ω} of column t of C times g_t, |g_t| ≤ 1, as the attacker chooses
//	a       ⟨m_ω, v⟩/ν for a unit direction v: how far a test looks
//
// # Attacks
//
// All bounds come from tests that an attacker could do. A mechanism is (ε, δ)-DP only if every set S of outcomes has
// P(S) - e^ε Q(S) ≤ δ, where P is the mixture of the N(m_ω, ν²I) and Q = N(0, ν²I). The removal of a record is enough:
// a mechanism has to be private in both directions, and what additions tell could only raise the bounds. Contributions and
// sets are chosen for the C at hand, and contributions may be scaled down; so nothing is asked of C, and models have at least
// T parameters. Bins.MeanSquare and Poisson.SquaredSum have the proofs.
//
// It knows no Gram matrix and no workload. What it returns is rounded up, and +Inf where nothing is proved.
package secrecy

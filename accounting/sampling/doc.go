// Package sampling accounts for batches that are drawn in secret: a Scheme's Draw is the accountant of w bands,
// ε of δ and noise, δ of ε and noise, and noise of both, by Poisson sampling (package pld) or random allocation (package
// allocation). Random bins have one of their own for every strategy (package bins).
//
// # Batches of a largest size
//
// Poisson sampling can have batches of a largest size, so that all steps have the same shape: of more records than that,
// some are dropped. Overflow returns how likely a record is to be drawn for a step that drops, and Left what remains of δ
// for the rounds themselves.
//
// # Why the probability of an overflow is added to δ
//
// Call a step full if at least Most other records are drawn for it: full steps, and which of them draw the record
// itself, depend on draws alone, which have the same distribution with the record as without, or with zeros in its
// place (a record that is not there draws all the same, to no effect). Fix all draws of the others, and the record's own draws
// for full steps. If it is drawn for no full step, no step drops anything on its account: the others kept in full steps are
// the same, so that these tell nothing of it, and the other steps are rounds of Poisson sampling, adaptive, of which there are
// no more than without truncation. If it is drawn for one, δ is 1 at most. The divergence that δ is made of is jointly convex,
// so that the mean over what was fixed bounds it, τ being the chance of the second case, by (1-τ)·δ_Poisson + τ:
//
//	δ(ε) ≤ δ_Poisson(ε) + P(the record is drawn for a full step) ≤ δ_Poisson(ε) + rounds·q·P(Bin(n-1, q/w) ≥ Most).
//
// It takes that who is dropped depends on draws alone, by position, by priority or by chance. The factor q, which a union
// bound over full steps lacks, is there because a full step tells nothing of a record that is not drawn for it.
//
// # Notation
//
//	n      Records, the most at a node: public
//	w, q   groups that records are put into, and the probability of a record of the step's group to be drawn
package sampling

// Package participation says who may take part when, and what that costs.
//
// # Schemas
//
// A record takes part in some of the T steps; a Schema is the set of patterns (sets of steps) it may choose.
//
//	Cyclic       (k,b)-participation: steps exactly b apart, at most k of them, as when data are visited in one order
//	             in every epoch. With T = k·b the pattern of residue i < b is {i, i+b, ..., i+(k-1)b}. k = 1 is single
//	             participation, b = 1 with k = T participation in every step.
//	MinSep       steps at least b apart, at most k of them
//	PatternList  whatever is listed
//
// A schema also says what an optimizer needs: which steps can be Together in a pattern, Budgets for the diagonal of a
// strategy's Gram matrix, and Disjoint patterns, whose optimum is a lower bound (Relaxation).
//
// # Sensitivity
//
// Two neighbouring datasets differ in one record, so in the gradients of one pattern π, by rows of norm at most one
// each. The strategy's outputs then differ, squared, by at most
//
//	sens² = max over π of max { ⟨Γ, X[π,π]⟩ : Γ PSD, unit diagonal }  ≤  max over π of Σ_{s,t∈π} |X[s,t]|,
//
// where Γ holds the inner products of the rows. The sum is attained, and so exact, when some signs ε make every
// ε_s ε_t X[s,t] ≥ 0: always for k ≤ 2, for non-negative X, and for X that vanishes off the diagonal of the pattern, as
// it does for optimal strategies. Otherwise it is an upper bound, and the result says so.
//
// Bellet et al. state this bound (Theorem 7, Equation 8) for sens; it holds for sens squared, which is a norm squared.
//
// # Sampling
//
// Schemas are for an attacker who knows in which steps a record takes part. A Sampling draws that, with a secret Key,
// and its Sampler makes the batches of any step from key and step alone:
//
//	CyclicSampling   b batches made once, visited in turn       every record known: cyclic
//	PoissonSampling  w groups in turn, each of whose records    secret: T/w rounds of the subsampled mechanism
//	                 takes part with probability q
//	BinsSampling     every record in one of b bins, in turn     secret: one draw of b
//	MinSepSampling   with probability q after a cool-down       every record known: min-sep
//
// What secrecy is worth is the accountant's; here is what is drawn: groups and bins exactly uniformly, participation
// with a probability that is never above q. The Schema of a Sampler holds whatever it draws, and a Ledger checks it.
//
// # Notation
//
//	T      steps           counted from 0
//	w, q   groups, probability of Poisson sampling
//	k, b   participations  a record takes part at most k times, exactly (cyclic) or at least (min-sep) b steps apart
//	       and separation
//	X      strategy Gram   T×T, symmetric: CᵀC, all that this package sees of a strategy C
//
// A value named a bound may be more than the true value, never less; sums are rounded up.
package participation

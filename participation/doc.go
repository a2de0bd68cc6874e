// Package participation says who may take part when, and what that costs.
//
// # Schemas
//
// A record takes part in some of the T steps; a schema is the set of patterns (sets of steps) it may choose. Cyclic is
// (k,b)-participation: T = k·b, and the pattern of residue i < b is {i, i+b, ..., i+(k-1)b}, as when data are visited in
// the same order in every epoch. k = 1 is single participation, b = 1 is participation in every step.
//
// # Sensitivity
//
// Two neighbouring datasets differ in one record, so in the gradients of one pattern π, by rows of norm at most one each.
// The strategy's outputs then differ, squared, by at most
//
//	sens² = max over π of max { ⟨Γ, X[π,π]⟩ : Γ PSD, unit diagonal }  ≤  max over π of Σ_{s,t∈π} |X[s,t]|,
//
// where Γ holds the inner products of the rows. The sum is attained, and so exact, when some signs ε make every
// ε_s ε_t X[s,t] ≥ 0: always for k ≤ 2, for non-negative X, and for X that vanishes off the diagonal of the pattern, as it
// does for optimal strategies. Otherwise it is an upper bound, and the result says so.
//
// Bellet et al. state this bound (Theorem 7, Equation 8) for sens; it holds for sens squared, which is a norm squared.
//
// # Notation
//
//	T      steps           counted from 0; T = k·b
//	k, b   participations  a record takes part at most k times, exactly b steps apart
//	       and separation
//	X      strategy Gram   T×T, symmetric: CᵀC, all that this package sees of a strategy C
//
// A value named a bound may be more than the true value, never less; sums are rounded up.
package participation

// Package factorize finds the strategy that pays the least error for its privacy, and proves how close it came.
//
// # The problem
//
// A node adds row t of C⁻¹Z at step t, with Z of independent noise and C lower triangular. The noise costs the squared
// error tr(C⁻ᵀ H C⁻¹) on a workload with Gram matrix H, and the strategy costs privacy in proportion to its
// sensitivity, so what counts is scale-free (Bellet et al., Lemma 10):
//
//	loss(C) = sens(C)² · tr(C⁻ᵀ H C⁻¹)
//
// Both factors depend on X = CᵀC alone. Under (k,b)-participation Dense minimizes tr(H X⁻¹) over the positive definite
// X with
//
//	X[s,t] = 0 for s ≠ t in one pattern     and     Σ_{s in pattern} X[s,s] = 1 for every pattern,
//
// where sens² = 1. The mask on X costs nothing: at the masked optimum Λ = X⁻¹HX⁻¹ is a feasible dual point of the
// problem without it, with the same value (docs/mathematics.md).
//
// Where patterns overlap (min-sep, long cyclic runs, lists) the search starts with this mask, and with a diagonal of X
// from the schema's Budgets, and goes on without them, by the sensitivity itself. What is then left is bounded by the
// optimum for the schema's Relaxation, and by OverlapBound.
//
// # Classes, objectives, results
//
// A Class is a set of strategies with a search for its best; what a strategy is, and what it costs a node, is in
// package strategy. Classes is the registry. The dense one holds all strategies; the others need less memory at a node
// and cost more error:
//
//	Dense                                                            with a certificate, for all but ManySteps
//	Banded{Bandwidth: w}         w bands, general entries            with a certificate for its bands
//	Toeplitz{Bandwidth: w}       w coefficients, scaled columns      none
//	BLT{Buffers: d}              d poles of a rational function      none
//	BandedInverse{Bandwidth: w}  C⁻¹ of w coefficients               none
//	Comb{Buffers: d}             BLT times a comb of period b        none
//
// An Objective is the error to be made small: Mean of all steps, by H; Worst or Last of single ones; or Long, the mean
// of more steps than matrices of T×T have room for. All searches take the same Options, tell the same Progress and
// return the same Result:
//
//	r, err := factorize.Banded{Bandwidth: 8}.Optimize(ctx, factorize.Mean(h), schema, factorize.Options{})
//
// What a class can do for a schema is known beforehand (Supports, Traits). A class with another search is a type
// with these methods, and an entry in Classes.
//
// Nodes, or groups of nodes, with strategies of their own are found by Nodes.Optimize. D-MF is Dense for the prefix
// workload, which knows nothing of the network.
//
// # Under random bins
//
// Bins finds strategies without negative entries: for a known draw, and the best at an (ε, δ) when it is secret in which
// batch a record is (bins.Mechanism). These are local optima without a certificate; no sensitivity describes them.
//
// # The certificate
//
// A lower bound on the loss of every strategy, optimal or not, comes with each result of Dense: see LowerBound. The
// relative gap between loss and bound is what its search stops on. Rounding is accounted for on the safe side, so that
// a bound is a bound.
//
// Where H is an estimate, a Perturber bounds how far above the optimum for the true H a strategy may be.
//
// # Toeplitz strategies
//
// The families of Toeplitz strategies share one objective (series.go): with r = 1/c the squared error is a quadratic
// form of r, and a family only maps its parameters to c and gradients back. Their sensitivities are exact where the
// sum of |X| over a pattern is attained, and that sum, an upper bound, otherwise. For Long nothing of size T×T is
// made: the search works on a Response, the squared error as a function of r, and a bound of the sensitivity in O(T)
// (long_family.go).
//
// # Notation
//
//	T     steps
//	C     strategy        T×T lower triangular, positive diagonal
//	C⁻¹   noising matrix  T×T
//	H     Gram matrix     T×T of the workload
//	X     strategy Gram   CᵀC
//	Λ     dual variable   X⁻¹HX⁻¹, minus the gradient of the objective
//
// The package sees a workload only as H and knows nothing of graphs, noise scales or files.
package factorize

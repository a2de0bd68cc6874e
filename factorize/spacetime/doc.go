// Package spacetime finds the noise of least error that is correlated over time, by a strategy C, and between nodes that
// share secrets, by a covariance M (package secrets), and proves how close it came.
//
// # The problem
//
// Noise of covariance M ⊗ (CᵀC)⁻¹ has the squared error ⟨H(M), (CᵀC)⁻¹⟩ = ⟨K, M⟩, linear in M and in (CᵀC)⁻¹ alone, and
// costs privacy by the sensitivity of C and by what the worst attacker learns in one step:
//
//	loss(M, C) = max_{A,v} ω_v [M_A⁻¹]_vv · sens(C)² · tr(H(M) (CᵀC)⁻¹).
//
// For a fixed M this is the problem of package factorize, with the Gram matrix H(M). For a fixed C it is convex, too:
//
//	minimize tr(KM) over own variances s ≥ 0 and pair variances e ≥ 0, subject to ω_v [M_A⁻¹]_vv ≤ 1 for all A and v ∉ A.
//
// The weights ω are 1 where all nodes have one privacy level. A node of μ_v and clip_v of its own has the weight
// ((clip_v/μ_v)/(clip/μ))², μ the least and clip the largest: it is protected as it should be where [M_A⁻¹]_vv is
// 1/ω_v. Twenty random problems with weights (4 to 7 nodes, one or two colluding) agree with a semidefinite program
// of another author to what their gaps leave open, 1.4e-5 at most.
//
// Space solves that one, with a certificate. Optimize alternates between the two until neither gains: the pair (M, C) is
// then stationary, and each half is certified to be the best for the other. That no other pair is better is not proven:
// what is proven of all pairs is the joint lower bound. Noise that is no such pair, since the noise of a node and the
// noise of a pair differ in their correlation over time, can have a smaller loss (docs/secrets-optimum.md).
//
// # How Space works
//
// With reach_Av = 1/(ω_v [M_A⁻¹]_vv) the constraints are reach ≥ 1, of functions that are concave and homogeneous of
// degree one in the variances x, with the derivatives
//
//	∂reach_Av/∂x_i = (b_iᵀz)²,    z = M_A⁻¹d_v/([M_A⁻¹]_vv √ω_v),
//
// b_i = d_i for own variances, d_i - d_j for pairs that do not touch A. So the problem is nearly a linear program, and an
// interior method needs about 15 steps. The same vectors z, weighted by the multipliers, are the dual point of the
// certificate (dual.go), which needs nothing else of the method. With another C the costs are a little different: the
// next round goes on from point and multipliers of the last one, moved away from the constraints by as much as the gap
// says, so that all rounds together need about 30 steps.
//
// Where nodes have many pairs, all of n = 500 for one, the matrix of a Newton step would be too large, and most pairs are
// not worth their cost. The search then works with some of the pairs (pricing.go): the dual point shows at every step
// which of the others would gain, and is a certificate for all pairs once it shows none. Pairs come in as it shows them
// and go when they are idle. Second derivatives take M⁻¹ for every attacker, except for attackers that know much
// (newton.go), until that no longer gains.
//
// A dual point of a search that is under way pulls at a few variables by more than they cost. Less weight on the victims
// at their ends makes it a better one, and certifies a step or two earlier (dual.go).
//
// An interior point needs second derivatives of the constraints that count only: of each victim, the few attackers that
// learn most (interior.go). M_A⁻¹ is an update of M⁻¹ whose rank is the number of A's neighbours (view.go).
//
// # What is safe
//
// The noise that is returned is scaled so that secrets.Noise.Worst, which bounds all rounding, proves max [M_A⁻¹]_vv ≤ 1
// for the very standard deviations that are exported. Lower bounds are rounded down. K and H(M) are taken as they are.
//
// # Notation
//
//	n, m, T  nodes, pairs, steps
//	C, M     strategy; covariance of the noise of a step
//	X, Y     strategy Gram CᵀC, and its inverse: both T×T
//	H(M)     T×T: the workload, for noise of covariance M
//	K        K(Y), n×n: the workload, for noise of covariance Y over time
//	A, v     attacker and victim
//	x        variances: s of nodes, then e of pairs
package spacetime

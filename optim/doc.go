// Package optim minimizes smooth functions of many variables. It knows nothing of matrices' meaning, workloads or
// privacy.
//
// Minimize is a limited-memory BFGS method (Nocedal & Wright, "Numerical Optimization", Algorithms 7.4 and 7.5) made
// for objectives that are finite on an open set only, as barrier-like objectives over positive definite matrices are:
//
//   - the step search never asks for a gradient outside the set, and shrinks steps that leave it;
//   - the objective evaluates value and gradient separately, so that a rejected step costs a value only;
//   - the initial inverse Hessian of every iteration can be a caller's preconditioner instead of a multiple of the
//     identity;
//   - when to stop is the caller's decision, asked after every iteration: a proof of the distance to the optimum beats
//     any tolerance on gradients.
//
// Vectors are []float64; the inner product is the Euclidean one. Constraints that are linear equations need no support:
// gradients and preconditioned gradients projected on the directions of the constraint keep every iterate on it.
package optim

// Package smoothness says how strongly a training answers to its models: which class of package reaction its steps are in.
//
// Training.Class is the function to call. It knows linear, logistic and softmax regression from a bound on the norms of the
// inputs, and other losses from a Lipschitz constant of one record's gradient.
//
// # Sum and mean
//
// A node's step is
//
//	θ ← θ − η (decay·θ + (1/D) Σ over its batch of clip(∇ℓ(θ; x)) + noise)
//
// D = 1 for nodes that add gradients up, and the size of a batch for nodes that take the mean. β is a Lipschitz constant of
// the SUM, so that the number that classes ask for is X = (η/D) β: a node that divides by the size of its batch divides its
// rate by that. Batches that are drawn in secret can hold all records of a node, and D is their expected size.
//
// # Where the numbers come from
//
// The gradient of a linear model o = Wx + b for one record is δ(o)·x̃ᵀ, x̃ = (x, 1), and its Jacobian l″(o) ⊗ x̃x̃ᵀ. Its
// largest eigenvalue is at most c·‖x̃‖², c the largest curvature l″ of the loss of an output:
//
//	linear     (o − y)²                c = 2      one output
//	logistic   log(1 + exp(−yo))       c = 1/4    one output
//	softmax    log Σ exp(o_i) − o_y    c = 1/2    diag(p) − ppᵀ has no eigenvalue above 1/2
//
// Clipping to a ball is a projection, which moves no two gradients apart. With one output the gradient is a number times a
// fixed vector x̃; clipped, by one joint norm, it is l′ cut off at ±Δ/‖x̃‖ times that vector, which still is the gradient of
// a convex function (class Convex). Two classes of a softmax are one output: δ is a number times (1, −1). With several
// outputs, an intercept that is clipped apart from the weights, or an L2 term inside the clip, clipping turns the gradient,
// and the class is ClippedConvex, where β is the sum over records of the constants of the UNCLIPPED gradients.
// Where the clipping norm is above every gradient there is, nothing is clipped: |δ| ≤ 1 for logistic, √2 for softmax
// regression.
//
// # What is private
//
// The largest norm of the inputs depends on the data, and β is used to say how private they are. A bound that everybody
// knows does not: scale inputs down to it, x ← x·min(1, R/‖x‖), before training.
//
// # Notation
//
//	β      Lipschitz constant of the sum of a batch's clipped gradients, or of the unclipped ones for ClippedConvex
//	λ      of strong convexity, of the same sum
//	X, Y   the rate times β, and times λ, over D
package smoothness

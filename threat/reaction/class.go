package reaction

import (
	"math"

	"mafalda/internal/fault"
)

// Class is a set of steps φ(x) = x − g(x) of a node, g the sum of its clipped gradients times the learning rate:
//
//	|φ(x) − φ(x') − Rho·(x − x')| ≤ Kappa·|x − x'|     for all models x, x' and whatever the attacker knows.
//
// The constructors have the classes of usual losses. Their argument x = ηβ is the learning rate times a Lipschitz
// constant of the sum of the clipped gradients; every constructor says what exactly. Where rates vary, Rule has them,
// and β alone is the argument.
type Class struct {
	Rho   float64 // ρ, the centre
	Kappa float64 // κ ≥ 0, the radius
}

// Lipschitz returns the Lipschitz constant of all steps of the class, |ρ| + κ.
func (c Class) Lipschitz() float64 { return math.Abs(c.Rho) + c.Kappa }

// Nearest returns the linear answer of the class that is nearest to x ↦ x, a node that does not react.
func (c Class) Nearest() float64 { return min(max(1, c.Rho-c.Kappa), c.Rho+c.Kappa) }

// costlier returns the end of the class at which an answer costs more, if it costs price times the answer; the nearest
// answer to none where the price is 0.
func (c Class) costlier(price float64) float64 {
	switch {
	case price > 0:
		return c.Rho + c.Kappa
	case price < 0:
		return c.Rho - c.Kappa
	}
	return c.Nearest()
}

// AtRate returns the class of steps x − g(x) for which the steps keep·x − rate·g(x) are in c. It serves classes that
// are known of whole steps, such as Lipschitz(L), where a Rule has rates or decay. rate must not be zero.
func (c Class) AtRate(rate, keep float64) Class {
	return Class{Rho: 1 + (c.Rho-keep)/rate, Kappa: c.Kappa / math.Abs(rate)}
}

// check returns an error unless the class is one.
func (c Class) check() error {
	if !finite(c.Rho) || !finite(c.Kappa) || c.Kappa < 0 {
		return fault.New("Class", c, "is no class: Rho must be a number and Kappa not negative")
	}
	return nil
}

// Smooth returns the class of losses whose clipped gradients are Lipschitz: ρ = 1, κ = x. Losses need not be convex,
// and any clipping by projection onto a ball will do, per layer too. x is the rate times the Lipschitz constant β of
// the SUM of a node's clipped gradients. The error is a fault.Argument for a negative or infinite x.
func Smooth(x float64) (Class, error) {
	return Class{Rho: 1, Kappa: x}, checkFactor("x", x)
}

// Convex returns the class of convex β-smooth losses whose clipping is never active, and of generalized linear models
// with one joint clip (logistic, squared and smoothed hinge loss of one output: clip(l'(a))·x is the gradient of a
// convex function): ρ = 1 − x/2, κ = x/2. x is the rate times β, the Lipschitz constant of the sum of gradients. It is
// false for other convex losses that are clipped: those are ClippedConvex. The error is a fault.Argument for a negative
// or infinite x.
func Convex(x float64) (Class, error) {
	return Class{Rho: 1 - x/2, Kappa: x / 2}, checkFactor("x", x)
}

// ClippedConvex returns the class of convex losses whose gradients are clipped by norm and that are no generalized
// linear models: softmax, several outputs, an L2 term inside the clip, or a generalized linear model clipped per layer:
// ρ = 1 − (3/8)x, κ = (3√3/8)x. x is the rate times the sum over a node's records of the Lipschitz constants of the
// UNCLIPPED gradients. The Jacobian of a clipped gradient is a product of two positive semidefinite matrices, S ⪯ 1 and
// H ⪯ β, and ‖SH − (3/8)β‖ ≤ (3√3/8)β. The error is a fault.Argument for a negative or infinite x.
func ClippedConvex(x float64) (Class, error) {
	return Class{Rho: 1 - 0.375*x, Kappa: 0.375 * math.Sqrt(3) * x}, checkFactor("x", x)
}

// StronglyConvex returns the class of λ-strongly convex β-smooth losses whose clipping is never active (clipping
// destroys strong convexity; an L2 term outside the clip is decay, see Descent): ρ = 1 − (x + y)/2, κ = (x − y)/2. x is
// the rate times β, y the rate times λ. The error is a fault.Argument unless 0 ≤ y ≤ x < ∞.
func StronglyConvex(x, y float64) (Class, error) {
	if err := checkFactor("x", x); err != nil {
		return Class{}, err
	}
	if !(y >= 0 && y <= x) {
		return Class{}, fault.New("y", y, "is not between 0 and [x] = %v", x)
	}
	return Class{Rho: 1 - (x+y)/2, Kappa: (x - y) / 2}, nil
}

// Lipschitz returns the class of all L-Lipschitz steps: ρ = 0, κ = l. Here the whole step counts, with its rate. The
// error is a fault.Argument for a negative or infinite l.
func Lipschitz(l float64) (Class, error) {
	return Class{Kappa: l}, checkFactor("l", l)
}

// checkFactor returns an error unless v is finite and not negative.
func checkFactor(name string, v float64) error {
	if !finite(v) || v < 0 {
		return fault.New(name, v, "is negative or not a number")
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// A Reaction says which class a node's step is in: for every step and every hidden node, by its place in W and H.
type Reaction func(step, node int) Class

// Everywhere returns the reaction of nodes that are in one class in all steps.
func Everywhere(c Class) Reaction { return func(int, int) Class { return c } }

package reaction

import (
	"math"
	"slices"
	"strconv"

	"mafalda/internal/fault"
	"mafalda/internal/lists"
)

// Class is a set of steps φ(x) = x − g(x) of a node, g the sum of its clipped gradients times the learning rate:
//
//	|φ(x) − φ(x') − Rho·(x − x')| ≤ Kappa·|x − x'|     for all models x, x' and whatever the attacker knows.
//
// A Kind has the classes of usual losses. Where rates vary, Rule has them, and x is β alone.
type Class struct {
	Rho   float64 // ρ, the centre
	Kappa float64 // κ ≥ 0, the radius
}

// Lipschitz returns the Lipschitz constant of all steps of the class, |ρ| + κ.
func (c Class) Lipschitz() float64 { return math.Abs(c.Rho) + c.Kappa }

// Nearest returns the linear answer of the class that is nearest to x ↦ x, a node that does not react.
func (c Class) Nearest() float64 { return min(max(1, c.Rho-c.Kappa), c.Rho+c.Kappa) }

// least returns the least linear answer of the class.
func (c Class) least() float64 { return c.Rho - c.Kappa }

// costlier returns the end of the class at which an answer costs more, if it costs price times the answer; the nearest
// answer to none where the price is 0.
func (c Class) costlier(price float64) float64 {
	switch {
	case price > 0:
		return c.Rho + c.Kappa
	case price < 0:
		return c.least()
	}
	return c.Nearest()
}

// AtRate returns the class of steps x − g(x) for which the steps keep·x − rate·g(x) are in c. It serves classes that
// are known of whole steps, such as Lipschitz, where a Rule has rates or decay. rate must not be zero.
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

// Kind is a family of classes, by its name in flags: a class of it follows from one number x, or two, x and y. The number
// x = ηβ is the rate times a Lipschitz constant β, but for Lipschitz.
type Kind string

const (
	// Convex is of convex β-smooth losses whose clipping is never active, and of generalized linear models with one joint
	// clip (logistic, squared and smoothed hinge loss of one output: clip(l'(a))·x is the gradient of a convex function):
	// ρ = 1 − x/2, κ = x/2. β is the Lipschitz constant of the sum of gradients. It is false for other convex losses that
	// are clipped: those are ClippedConvex.
	Convex Kind = "convex"

	// Smooth is of losses whose clipped gradients are Lipschitz: ρ = 1, κ = x. Losses need not be convex, and any clipping
	// by projection onto a ball will do, per layer too. β is the Lipschitz constant of the SUM of a node's clipped gradients.
	Smooth Kind = "smooth"

	// ClippedConvex is of convex losses whose gradients are clipped by norm and that are no generalized linear models:
	// softmax, several outputs, an L2 term inside the clip, or a generalized linear model clipped per layer: ρ = 1 − (3/8)x,
	// κ = (3√3/8)x. β is the sum over a node's records of the Lipschitz constants of the UNCLIPPED gradients. The Jacobian of
	// a clipped gradient is a product of two positive semidefinite matrices, S ⪯ 1 and H ⪯ β, and ‖SH − (3/8)β‖ ≤ (3√3/8)β.
	ClippedConvex Kind = "clipped-convex"

	// StronglyConvex is of λ-strongly convex β-smooth losses whose clipping is never active (clipping destroys strong
	// convexity; an L2 term outside the clip is decay, see Descent): ρ = 1 − (x + y)/2, κ = (x − y)/2, with y the rate
	// times λ.
	StronglyConvex Kind = "strongly-convex"

	// Lipschitz is of all x-Lipschitz steps: ρ = 0, κ = x. Here the whole step counts, with its rate.
	Lipschitz Kind = "lipschitz"
)

// kind is a row of the table of kinds.
type kind struct {
	name  Kind
	words string // says what x bounds
	wants string // says which numbers there are
	class func(x, y float64) Class
}

const wantsBeta = "must be a number, ηβ"

var kinds = []kind{
	{Convex, "convex, ηβ ≤ ", wantsBeta, func(x, _ float64) Class { return Class{1 - x/2, x / 2} }},
	{Smooth, "smooth, ηβ ≤ ", wantsBeta, func(x, _ float64) Class { return Class{1, x} }},
	{ClippedConvex, "convex and clipped, ηβ ≤ ", wantsBeta,
		func(x, _ float64) Class { return Class{1 - 0.375*x, 0.375 * math.Sqrt(3) * x} }},
	{StronglyConvex, "strongly convex, ηβ ≤ ", "must be two numbers, ηβ and ηλ, with a comma between them",
		func(x, y float64) Class { return Class{1 - (x+y)/2, (x - y) / 2} }},
	{Lipschitz, "Lipschitz, L ≤ ", "must be a number, L", func(x, _ float64) Class { return Class{0, x} }},
}

// row returns the row of a kind; for what is none, one that has no numbers.
func (k Kind) row() kind {
	at := slices.IndexFunc(kinds, func(row kind) bool { return row.name == k })
	if at < 0 {
		return kind{wants: "has no numbers"}
	}
	return kinds[at]
}

// Kinds lists the kinds.
func Kinds() []Kind { return lists.Map(kinds, func(row kind) Kind { return row.name }) }

// Words says what x bounds: "convex, ηβ ≤ "; it is empty for what is no kind.
func (k Kind) Words() string { return k.row().words }

// Wants says which numbers the kind has.
func (k Kind) Wants() string { return k.row().wants }

// Numbers returns the numbers of a class as flags take them.
func (k Kind) Numbers(x, y float64) string {
	text := strconv.FormatFloat(x, 'g', -1, 64)
	if k == StronglyConvex {
		text += "," + strconv.FormatFloat(y, 'g', -1, 64)
	}
	return text
}

// Class returns the class of the numbers. The error is a fault.Argument named Reaction unless 0 ≤ y ≤ x < ∞, with a y of 0
// for all kinds but StronglyConvex, and for what is no kind.
func (k Kind) Class(x, y float64) (Class, error) {
	row, limits := k.row(), "must be finite and not negative"
	switch {
	case row.class == nil:
		return Class{}, fault.New("Reaction", string(k), "is no kind of reaction")
	case k == StronglyConvex:
		limits += ", the second not above the first"
	case y != 0:
		limits = row.wants
	}
	if !finite(x) || !(y >= 0 && y <= x) || y > 0 && k != StronglyConvex {
		return Class{}, fault.New("Reaction", k.Numbers(x, y), "%s", limits)
	}
	return row.class(x, y), nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// A Reaction says which class a node's step is in: for every step and every hidden node, by its place in W and H.
type Reaction func(step, node int) Class

// Everywhere returns the reaction of nodes that are in one class in all steps.
func Everywhere(c Class) Reaction { return func(int, int) Class { return c } }

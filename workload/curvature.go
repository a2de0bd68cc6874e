package workload

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/internal/lists"
)

// Curvature is the spectrum of a loss near its optimum, by which gradients react to the errors of models. The gradient
// of a quadratic loss with second derivative λ along a direction is λθ and what does not depend on the model θ, so that
// an error along it goes through the recursion of Spec with
//
//	the gradient  g_t = z_t + xθ,   x = ηλ,   η the base learning rate, z the row of noise, θ in units of η.
//
// Errors along different directions add up: the Gram matrix is Σ Weight·H(X), H(x) that of the recursion with x. It is
// exact for quadratic losses with the same second derivatives at all nodes. Without entries gradients do not react, and
// the Gram matrix is H(0).
//
// Curvature belongs to a Gram matrix. A Spec that is trained, attacked or accounted for has gradients that react by
// themselves.
type Curvature []Direction

// Direction is a second derivative, times the base learning rate, and how much squared errors along it count.
type Direction struct{ X, Weight float64 }

// MaxDirections is the largest number of entries of a Curvature.
const MaxDirections = 4096

// Check rejects entries that are negative or not finite, or that all count nothing, and recursions whose errors grow
// over the gossip matrix w (nil for the Prefix kind). The errors are fault.Arguments of Curvature.
//
// Where every step has the same recursion, errors grow if that has an eigenvalue of modulus 1 or more (Stable). Where
// rates or networks change, or gossip does not follow every step, they grow if the largest becomes ten times what it is
// without feedback over T = steps.
func (c Curvature) Check(s Spec, w *graph.CSR, steps int) error {
	if err := c.check(); err != nil {
		return err
	}
	return c.checkStability(s, w, steps)
}

// check is Check without the network.
func (c Curvature) check() error {
	if len(c) > MaxDirections {
		return fault.New("Curvature", len(c), "has more than %d directions", MaxDirections)
	}
	var sum float64
	for _, d := range c {
		if !(d.X >= 0 && d.Weight >= 0) || math.IsInf(d.X+d.Weight, 1) {
			return fault.New("Curvature", d.X, "second derivatives and their weights must be finite and not negative")
		}
		sum += d.Weight
	}
	if len(c) > 0 && !(sum > 0) {
		return fault.New("Curvature", nil, "no error counts: where errors count as much as the loss curves, a second "+
			"derivative must be above 0")
	}
	return nil
}

// Exact returns nil if NewKernel has the Gram matrix of the spec under the curvature in exact form, as Spec.Exact does,
// and an error that wraps ErrNotExact otherwise.
func (c Curvature) Exact(s Spec, w *graph.CSR) error {
	switch {
	case c == nil || Options{Spec: s, Curvature: c}.shrinks():
		return s.Exact(w)
	case !c.Varies(s):
		return nil
	case !s.updatesByGradient():
		return fmt.Errorf("gradients that react, with momentum or tracking, where networks change or steps are missed: %w", ErrNotExact)
	}
	_, err := s.newAlgebra(w)
	return err
}

// Varies reports whether a backward recursion makes the exact Gram matrix, and random runs its estimate: networks change,
// or feedback is missed with the steps.
func (c Curvature) Varies(s Spec) bool { return !s.IsStatic() || c != nil && s.MissedSteps > 0 }

// Sketchable reports whether a Sketch has the Gram matrix of the spec under the curvature.
func (c Curvature) Sketchable(s Spec) bool {
	return c == nil || Options{Spec: s, Curvature: c}.shrinks() || s.evenly() && s.MissedSteps == 0
}

// shrinks reports whether feedback x is one more factor of the models, 1 - η_t (λ + x): whether a node keeps nothing
// but its model from step to step, and has a gradient in every step.
func (o Options) shrinks() bool {
	return o.updatesByGradient() && o.MissedSteps == 0
}

// feedsBack reports whether feedback is more than a factor of the models.
func (o Options) feedsBack() bool { return o.Curvature != nil && !o.shrinks() }

// keepsAt returns 1 - η_t (λ + x).
func (s Spec) keepsAt(rates []float64, x float64) []float64 {
	keep := make([]float64, len(rates))
	for t, r := range rates {
		keep[t] = 1 - r*(s.WeightDecay+x)
	}
	return keep
}

// evenly reports whether the response to a gradient depends on how long ago that was alone, for a network that stays.
func (s Spec) evenly() bool { return s.LearningRates.constant() && s.localSteps() == 1 }

// strand is a part of the kernel: the inner products of rows, times a weight.
type strand struct {
	lags
	weight float64
}

// strands returns the rows that the products of a kernel are made of. Where feedback shrinks the models, the base has it,
// with the decay, and otherwise it is in the rows, other ones for every direction.
func (o Options) strands(steps int) []strand {
	switch s := o.Spec; {
	case o.feedsBack():
		return lists.Map(o.Curvature, func(d Direction) strand {
			return strand{lags{count: steps, rule: &rule{s, d.X}}, d.Weight}
		})
	case o.Curvature != nil && s.evenly():
		s.WeightDecay = 0
		return []strand{{s.lags(steps), 1}}
	default:
		return []strand{{s.lags(steps), 1}}
	}
}

// products returns Σ weight·(what fill adds to a zero matrix) over the strands.
func (o Options) products(steps int, fill func(k []float64, l lags) error) (*diagonals, error) {
	var sum *diagonals
	for _, s := range o.strands(steps) {
		k := make([]float64, s.count*s.count)
		if err := fill(k, s.lags); err != nil {
			return nil, err
		}
		part := packLower(k)
		if s.weight != 1 {
			floats.Scale(s.weight, part.data)
		}
		if sum == nil {
			sum = part
		} else {
			floats.Add(sum.data, part.data)
		}
	}
	return sum, nil
}

// kernel returns the kernel of r, which must be checked, given the products of its strands.
func (o Options) kernel(steps int, products *diagonals) *Kernel {
	k := &Kernel{steps: steps, absence: o.Absence, network: o.Kind != Prefix, products: products}
	k.powers = o.strands(steps)[0].lags
	if k.powers.rule == nil {
		k.filter = o.filter(steps)
	}
	k.base = o.base(steps, products)
	if !o.Weights.allOne() {
		k.weights, _ = o.Weights.Vector(steps)
	}
	return k
}

func (o Options) base(steps int, products *diagonals) stepwise {
	switch {
	case o.feedsBack():
		return &lagged{steps: steps, k: products}
	case o.Curvature != nil && o.evenly():
		q := o.fadingWeights(products.count)
		return &fading{lagged{steps: steps, k: products.scaleByAge(q)}, q}
	case o.Curvature != nil:
		return mixture(lists.Map(o.Curvature, func(d Direction) weighted {
			g := newLagged(o.Spec, steps, products)
			g.keep = o.keepsAt(o.rates(steps), d.X)
			return weighted{d.Weight, g}
		}))
	case o.GradientTracking && !o.LearningRates.constant():
		return newTracked(o.Spec, steps, products)
	default:
		return newLagged(o.Spec, steps, products)
	}
}

// fadingWeights returns q(l) = Σ Weight·(1 - λ - X)^l for l < 2·count - 1: what is i+j steps old together counts q(i+j) times.
func (o Options) fadingWeights(count int) []float64 {
	q := make([]float64, 2*count-1)
	for _, d := range o.Curvature {
		power := d.Weight
		for l := range q {
			q[l] += power
			power *= 1 - o.WeightDecay - d.X
		}
	}
	return q
}

// fading is a workload whose kernel has the entries q[i+j]·⟨x_i, x_j⟩.
type fading struct {
	lagged
	q []float64
}

func (f *fading) counts(weights []float64, y *mat.SymDense) *diagonals {
	return f.lagged.counts(weights, y).scaleByAge(f.q)
}

// mixture is a sum of workloads with weights.
type mixture []weighted

type weighted struct {
	weight float64
	stepwise
}

func (m mixture) gram(weights []float64) *mat.SymDense {
	var sum *mat.SymDense
	for _, part := range m {
		h := part.stepwise.gram(weights)
		h.ScaleSym(part.weight, h)
		if sum != nil {
			h.AddSym(h, sum)
		}
		sum = h
	}
	return sum
}

func (m mixture) errors(y *mat.SymDense) []float64 {
	sum := make([]float64, y.SymmetricDim())
	for _, part := range m {
		floats.AddScaled(sum, part.weight, part.stepwise.errors(y))
	}
	return sum
}

func (m mixture) counts(weights []float64, y *mat.SymDense) *diagonals {
	var sum *diagonals
	for _, part := range m {
		c := part.stepwise.counts(weights, y)
		floats.Scale(part.weight, c.data)
		if sum != nil {
			floats.Add(c.data, sum.data)
		}
		sum = c
	}
	return sum
}

// scaleByAge returns the matrix whose entry (i, j) is q[i+j] times that of d.
func (d *diagonals) scaleByAge(q []float64) *diagonals {
	out := &diagonals{d.count, make([]float64, len(d.data))}
	for lag := range d.count {
		to := out.lag(lag)
		for i, v := range d.lag(lag) {
			to[i] = q[2*i+lag] * v
		}
	}
	return out
}

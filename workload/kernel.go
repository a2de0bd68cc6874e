package workload

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
)

// Kernel holds what the errors of single steps depend on: mostly the inner products of powers of the gossip matrix,
// k[p,q] = ⟨W^(p+e), W^(q+e)⟩_F with e the workload's first power. Of a plain workload, the squared error of step t
// alone, under noise of covariance Y = C⁻¹C⁻ᵀ over the steps, is
//
//	e_t = Σ_{s,s'≤t} k[t-s, t-s'] Y[s,s'] = ⟨H_t, Y⟩,       and H = Σ_t weights[t]·H_t.
//
// What else a Spec says comes on top of that: what nodes do with their own gradients (filter), and rows of noise that
// are missing (Absence).
type Kernel struct {
	steps   int
	base    stepwise
	filter  filter
	absence Absence
	weights []float64 // weights of the steps; nil: 1

	network  bool       // the workload has a network: it is not Prefix
	powers   lags       // powers of W whose inner products are in products
	products *diagonals // inner products of powers of W

	sum *mat.SymDense // Σ_t weights[t]·G_t before the filter, where nothing is known of single steps
}

// NewKernel computes the kernel for T = steps, at the cost of Gram, which has the arguments and errors explained.
func NewKernel(ctx context.Context, w *graph.CSR, steps int, opts Options) (*Kernel, error) {
	r, err := opts.reactingSpec(w, steps)
	if err != nil {
		return nil, err
	}
	if r.Kind == Prefix {
		w = diagonal([]float64{1})
	}
	if r.curvature.Varies(r.Spec) {
		c, err := r.changingNetwork(w, steps)
		if err != nil {
			return nil, err
		}
		sum, err := c.gram(ctx, opts.Progress)
		if err != nil {
			return nil, fmt.Errorf("Gram matrix of a network that changes: %w", err)
		}
		return c[0].kernel(sum), nil
	}
	if r.curvature != nil && !r.shrinks() {
		return r.recursiveKernel(ctx, w, steps, opts.Progress)
	}
	products, err := r.products(steps, func(k []float64, l lags) error {
		n, _ := w.Dims()
		switch {
		case r.Kind == Prefix:
			copy(k, prefixKernel(l))
			return nil
		case n <= MaxSpectralNodes && w.Symmetric(0):
			return addSpectral(k, w, l)
		}
		return newPanel(w, l, n).addAll(ctx, k, n, opts.Progress)
	})
	if err != nil {
		return nil, err
	}
	return r.kernel(steps, products), nil
}

// Under returns the kernel of the same network for another workload on it, which must be checked, without computing it
// again; nil if that depends on other powers of W.
func (k *Kernel) Under(s Spec, c Curvature) *Kernel {
	r := reacting{s, c}
	if !k.HasSteps() || !s.IsStatic() || k.network != (s.Kind != Prefix) || !k.powers.equal(r.strands(k.steps)[0].lags) {
		return nil
	}
	return r.kernel(k.steps, k.products)
}

// prefixKernel returns the kernel of a single node, W = 1.
func prefixKernel(l lags) []float64 {
	x := l.stationary()
	k := make([]float64, l.count*l.count)
	for p := range x {
		for q := range p + 1 {
			k[p*l.count+q] = x[p] * x[q]
		}
	}
	return k
}

// KernelOf returns the kernel of a Gram matrix of which single steps are not known.
func KernelOf(h *mat.SymDense) *Kernel { return &Kernel{steps: h.SymmetricDim(), sum: h} }

// HasSteps reports whether StepErrors and WeightedGram know the steps one by one. For networks that change
// (Spec.IsStatic) they do not.
func (k *Kernel) HasSteps() bool { return k.sum == nil }

// Steps returns the number of steps, T.
func (k *Kernel) Steps() int { return k.steps }

// Gram returns H. O(T²) mostly; O(T³/6) with weights, local steps, or decay and rates that change.
func (k *Kernel) Gram() *mat.SymDense { return k.gram(k.weights) }

func (k *Kernel) gram(weights []float64) *mat.SymDense {
	var h *mat.SymDense
	if k.sum != nil {
		h = mat.NewSymDense(k.steps, nil)
		h.CopySym(k.sum)
	} else {
		h = k.base.gram(weights)
	}
	k.filter.congruence(h)
	k.absence.gram(h)
	return h
}

// WeightedGram returns Σ_t weights[t]·H_t, the Gram matrix of a weighted sum of the steps' errors, as StepErrors has
// them; with weights of one it is Gram. O(T³/6). It panics unless HasSteps.
func (k *Kernel) WeightedGram(weights []float64) *mat.SymDense {
	if len(weights) != k.steps || !k.HasSteps() {
		panic(mat.ErrShape)
	}
	if k.weights != nil {
		weights = floats.MulTo(make([]float64, k.steps), k.weights, weights)
	}
	return k.gram(weights)
}

// StepErrors returns e_t for every step, times what the step counts, given Y = C⁻¹C⁻ᵀ (T×T). O(T³/6). It panics
// unless HasSteps.
func (k *Kernel) StepErrors(y mat.Symmetric) []float64 {
	if y.SymmetricDim() != k.steps || !k.HasSteps() {
		panic(mat.ErrShape)
	}
	errors := k.base.errors(k.filter.spread(k.absence.spread(y)))
	for t, w := range k.weights {
		errors[t] *= w
	}
	return errors
}

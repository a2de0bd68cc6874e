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

	own *Kernel // kernel of the variances, for noise that is correlated between nodes which miss steps: see gram

	sum *mat.SymDense // Σ_t weights[t]·G_t before the filter, where nothing is known of single steps
}

// NewKernel computes the kernel for T = steps, at the cost of Gram, which has the arguments and errors explained.
func NewKernel(ctx context.Context, w *graph.CSR, steps int, o Options) (*Kernel, error) {
	if err := o.check(w, steps); err != nil {
		return nil, err
	}
	if o.Kind == Prefix {
		w = diagonal([]float64{1})
	}
	switch n, _ := w.Dims(); {
	case o.Curvature.Varies(o.Spec):
		c, err := o.changingNetwork(w, steps)
		if err != nil {
			return nil, err
		}
		sum, err := c.gram(ctx, o.Progress)
		if err != nil {
			return nil, fmt.Errorf("Gram matrix of a network that changes: %w", err)
		}
		return c[0].kernel(sum), nil
	case o.feedsBack():
		b, err := newBasis(w)
		if err != nil {
			return nil, err
		}
		return o.kernelOver(ctx, b, steps)
	case n <= MaxSpectralNodes && w.Symmetric(0):
		products, err := o.products(steps, func(k []float64, l lags) error { return addSpectral(k, w, l) })
		if err != nil {
			return nil, err
		}
		return o.kernel(steps, products), nil
	}
	return o.kernelOver(ctx, basis{w: w}, steps)
}

// Under returns the kernel of the same network for another workload on it, which must be checked, without computing it
// again; nil if that depends on other powers of W.
func (k *Kernel) Under(s Spec, c Curvature) *Kernel {
	o := Options{Spec: s, Curvature: c}
	if !k.HasSteps() || !s.IsStatic() || k.network != (s.Kind != Prefix) || !k.powers.equal(o.strands(k.steps)[0].lags) {
		return nil
	}
	return o.kernel(k.steps, k.products)
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

// gram returns the Gram matrix for these weights. Noise that is correlated between nodes, of covariance M, has A[t,s] = 1
// if row s of a node's noise is sent in step t, and Ā = E[A]: two nodes miss steps independently, and a node in the same
// steps as itself, so that
//
//	H = Āᵀ [H(M) - H(diag M)] Ā + E[Aᵀ H(diag M) A].
//
// Rows that are lost have Ā = (1-p)·I, and H = (1-p)² H(M) + p(1-p) diag H(diag M).
func (k *Kernel) gram(weights []float64) *mat.SymDense {
	var h *mat.SymDense
	if k.sum != nil {
		h = mat.NewSymDense(k.steps, nil)
		h.CopySym(k.sum)
	} else {
		h = k.base.gram(weights)
	}
	k.filter.congruence(h)
	if k.own == nil {
		k.absence.gram(h)
		return h
	}
	own := k.own.gram(weights)
	subtract(h, own)
	k.absence.gramApart(h)
	k.absence.gram(own)
	h.AddSym(h, own)
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
	if k.own == nil {
		return k.sentErrors(k.absence.spread(y))
	}
	apart := k.absence.spreadApart(y)
	errors := k.sentErrors(apart)
	floats.Sub(errors, k.own.sentErrors(apart))
	floats.Add(errors, k.own.sentErrors(k.absence.spread(y)))
	return errors
}

// sentErrors returns the errors for rows of this covariance that are sent.
func (k *Kernel) sentErrors(y *mat.SymDense) []float64 {
	errors := k.base.errors(k.filter.spread(y))
	for t, w := range k.weights {
		errors[t] *= w
	}
	return errors
}

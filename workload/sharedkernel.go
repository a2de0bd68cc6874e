package workload

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// SharedKernel is the Kernel of noise that is correlated between nodes, of covariance M, where each node may miss steps
// for itself. With A[t,s] = 1 if row s of a node's noise is sent in step t, and Ā = E[A], two nodes miss steps
// independently, and a node in the same steps as itself:
//
//	H = Āᵀ [H(M) - H(diag M)] Ā + E[Aᵀ H(diag M) A].
//
// Rows that are lost have Ā = (1-p)·I, and H = (1-p)² H(M) + p(1-p) diag H(diag M).
type SharedKernel struct {
	all     *Kernel // of M
	own     *Kernel // of the diagonal of M; nil if nobody misses a step
	absence Absence
}

// sharedKernel returns the kernel of M = LLᵀ, with the rows of Lᵀ and the diagonal of M.
func (s *SpaceTime) sharedKernel(ctx context.Context, rows mat.Matrix, variances []float64) (*SharedKernel, error) {
	all, err := s.kernel(ctx, rows)
	k := &SharedKernel{all: all, absence: s.absence}
	if err != nil || s.absence.MissedSteps == 0 {
		return k, err
	}
	k.own, err = s.kernel(ctx, rootsOf(variances))
	return k, err
}

// VarianceKernel returns the kernel of noise that nodes do not share, with a variance of its own for each node: of
// TimeKernel of a diagonal matrix.
func (s *SpaceTime) VarianceKernel(ctx context.Context, variances []float64) (*Kernel, error) {
	k, err := s.kernel(ctx, rootsOf(variances))
	if err != nil {
		return nil, err
	}
	k.absence = s.absence
	return k, nil
}

// rootsOf returns a row √v·e_i for every variance that is not 0.
func rootsOf(variances []float64) *mat.Dense {
	rows := mat.NewDense(len(variances), len(variances), nil)
	count := 0
	for i, v := range variances {
		if v != 0 {
			rows.Set(count, i, math.Sqrt(v))
			count++
		}
	}
	return rows.Slice(0, max(1, count), 0, len(variances)).(*mat.Dense)
}

// Steps returns T.
func (k *SharedKernel) Steps() int { return k.all.Steps() }

// Gram returns H. It costs two times Kernel.Gram where nodes miss steps.
func (k *SharedKernel) Gram() *mat.SymDense { return k.gram((*Kernel).Gram) }

// WeightedGram returns Σ_t weights[t]·H_t: see Kernel.WeightedGram.
func (k *SharedKernel) WeightedGram(weights []float64) *mat.SymDense {
	return k.gram(func(k *Kernel) *mat.SymDense { return k.WeightedGram(weights) })
}

func (k *SharedKernel) gram(of func(*Kernel) *mat.SymDense) *mat.SymDense {
	h := of(k.all)
	if k.own == nil {
		return h
	}
	own := of(k.own)
	for s := range h.SymmetricDim() {
		for t := s; t < h.SymmetricDim(); t++ {
			h.SetSym(s, t, h.At(s, t)-own.At(s, t))
		}
	}
	k.absence.gramApart(h)
	k.absence.gram(own)
	h.AddSym(h, own)
	return h
}

// StepErrors returns the expected e_t of every step, given Y = C⁻¹C⁻ᵀ (T×T): see Kernel.StepErrors.
func (k *SharedKernel) StepErrors(y mat.Symmetric) []float64 {
	if k.own == nil {
		return k.all.StepErrors(y)
	}
	apart := k.absence.spreadApart(y)
	errors := k.all.StepErrors(apart)
	floats.Sub(errors, k.own.StepErrors(apart))
	floats.Add(errors, k.own.StepErrors(k.absence.spread(y)))
	return errors
}

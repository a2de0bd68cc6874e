package workload

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
)

// Kernel holds the inner products of powers of the gossip matrix, all that errors depend on: k[p,q] = ⟨W^(p+e),
// W^(q+e)⟩_F with e the workload's first power. The squared error of step t alone, under noise of covariance Y = C⁻¹C⁻ᵀ
// over the steps, is
//
//	e_t = Σ_{s,s'≤t} k[t-s, t-s'] Y[s,s'] = ⟨H_t, Y⟩,       and H = Σ_t H_t.
type Kernel struct {
	steps int
	k     []float64 // T×T row by row; entries p ≥ q are read
}

// NewKernel computes the kernel for T = steps, at the cost of Gram, which has the arguments and errors explained.
func NewKernel(ctx context.Context, w *graph.CSR, steps int, opts Options) (*Kernel, error) {
	if steps < 1 {
		return nil, fmt.Errorf("steps T = %d: must be at least 1", steps)
	}
	if err := opts.Spec.Check(steps); err != nil {
		return nil, err
	}
	k := &Kernel{steps, make([]float64, steps*steps)}
	if opts.Spec.Kind == Prefix {
		for i := range k.k {
			k.k[i] = 1
		}
		return k, nil
	}
	if err := checkSquare(w); err != nil {
		return nil, err
	}
	if n, _ := w.Dims(); n <= MaxSpectralNodes && w.Symmetric(0) {
		return k, k.addSpectral(w, opts.Spec.Kind)
	}
	return k, k.addSequences(ctx, w, opts)
}

// Steps returns T.
func (k *Kernel) Steps() int { return k.steps }

// Gram returns H, by sums along diagonals from the last step to the first: H[s,s'] = H[s+1,s'+1] + k[T-1-s, T-1-s'].
func (k *Kernel) Gram() *mat.SymDense {
	h := mat.NewSymDense(k.steps, nil)
	for lag := range k.steps {
		var sum float64
		for s := k.steps - 1 - lag; s >= 0; s-- { // entry (s, s+lag)
			p, q := k.steps-1-s, k.steps-1-s-lag
			sum += k.k[p*k.steps+q]
			h.SetSym(s, s+lag, sum)
		}
	}
	return h
}

// WeightedGram returns Σ_t weights[t]·H_t, the Gram matrix of a weighted sum of the steps' errors; with weights of one
// it is Gram. O(T³/6).
func (k *Kernel) WeightedGram(weights []float64) *mat.SymDense {
	if len(weights) != k.steps {
		panic(mat.ErrShape)
	}
	h := mat.NewSymDense(k.steps, nil)
	k.parallel(func(lag int) {
		d := k.diagonal(lag) // d[q] = k[q+lag, q]
		for s := 0; s+lag < k.steps; s++ {
			var sum float64
			for i, w := range weights[s+lag:] {
				sum += w * d[i]
			}
			h.SetSym(s, s+lag, sum)
		}
	})
	return h
}

// StepErrors returns e_t for every step, given Y = C⁻¹C⁻ᵀ (T×T). O(T³/6).
func (k *Kernel) StepErrors(y mat.Symmetric) []float64 {
	if y.SymmetricDim() != k.steps {
		panic(mat.ErrShape)
	}
	byLag := make([][]float64, k.steps)
	k.parallel(func(lag int) {
		d := k.diagonal(lag)
		errors := make([]float64, k.steps)
		factor := 2.0
		if lag == 0 {
			factor = 1
		}
		for s := 0; s+lag < k.steps; s++ {
			v := factor * y.At(s, s+lag)
			for i := range d[:k.steps-s-lag] {
				errors[s+lag+i] += v * d[i]
			}
		}
		byLag[lag] = errors
	})
	total := make([]float64, k.steps)
	for _, errors := range byLag { // in order, so that the result does not depend on the number of workers
		for t, e := range errors {
			total[t] += e
		}
	}
	return total
}

// diagonal copies the lag-th diagonal below the main one.
func (k *Kernel) diagonal(lag int) []float64 {
	d := make([]float64, k.steps-lag)
	for q := range d {
		d[q] = k.k[(q+lag)*k.steps+q]
	}
	return d
}

// parallel calls work for every lag.
func (k *Kernel) parallel(work func(lag int)) {
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for first := range workers {
		wg.Go(func() {
			for lag := first; lag < k.steps; lag += workers {
				work(lag)
			}
		})
	}
	wg.Wait()
}

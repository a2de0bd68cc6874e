package workload

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
)

// Options tunes Gram. The zero value is the model workload without progress reports.
type Options struct {
	Kind     Kind                  // Model unless set
	Progress func(done, total int) // if not nil, called from the caller's goroutine; the unit is nodes
}

// Gram returns the T×T Gram matrix H of the workload over the row-stochastic n×n gossip matrix w (exact up to rounding,
// about 1e-14 relative). Directed gossip matrices are welcome. For the Prefix kind w is not read and may be nil.
//
// Symmetric w up to 2048 nodes costs the eigenvalues of w, O(n³ + nT). Any other costs n sequences W^a e_i and their
// inner products, O(n·T·nnz + n²T²), in O(T·max(n, 10⁶/T) + T²) memory. Nothing of size (nT)² or n² T is ever stored.
//
// The errors are T < 1, a matrix that is not square or not finite, and the context's when it ends first.
func Gram(ctx context.Context, w *graph.CSR, steps int, opts Options) (*mat.SymDense, error) {
	if steps < 1 {
		return nil, fmt.Errorf("steps T = %d: must be at least 1", steps)
	}
	if opts.Kind == Prefix {
		return PrefixGram(steps), nil
	}
	if err := checkSquare(w); err != nil {
		return nil, err
	}
	if n, _ := w.Dims(); n <= maxSpectralNodes && isSymmetric(w) {
		return spectralGram(w, steps, opts.Kind)
	}
	return krylovGram(ctx, w, steps, opts)
}

// PrefixGram returns AᵀA for the prefix-sum matrix A: H[s,s'] = T - max(s,s').
func PrefixGram(steps int) *mat.SymDense {
	h := mat.NewSymDense(steps, nil)
	for s := range steps {
		for r := s; r < steps; r++ {
			h.SetSym(s, r, float64(steps-r))
		}
	}
	return h
}

// gramFromKernel sums the power kernel along diagonals, from the last step to the first:
// H[s,s'] = H[s+1,s'+1] + kernel[T-1-s, T-1-s'] with kernel[p,q] = ⟨W^(p+e), W^(q+e)⟩ and e the first power. kernel is
// row-major T×T; only its entries p ≥ q are read.
func gramFromKernel(kernel []float64, steps int) *mat.SymDense {
	h := mat.NewSymDense(steps, nil)
	for lag := range steps {
		var sum float64
		for s := steps - 1 - lag; s >= 0; s-- { // entry (s, s+lag)
			p, q := steps-1-s, steps-1-s-lag
			sum += kernel[p*steps+q]
			h.SetSym(s, s+lag, sum)
		}
	}
	return h
}

func checkSquare(w *graph.CSR) error {
	r, c := w.Dims()
	if r != c || r == 0 {
		return fmt.Errorf("gossip matrix is %d×%d: must be square and not empty", r, c)
	}
	var bad error
	w.DoNonZero(func(i, j int, v float64) {
		if v-v != 0 && bad == nil {
			bad = fmt.Errorf("gossip matrix entry (%d,%d) is %v", i, j, v)
		}
	})
	return bad
}

func isSymmetric(w *graph.CSR) bool {
	symmetric := true
	w.DoNonZero(func(i, j int, v float64) {
		symmetric = symmetric && (i == j || w.At(j, i) == v)
	})
	return symmetric
}

package workload

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/dense"
)

// Options says what a Gram matrix is of, and how it is made. The zero value is the model workload without progress reports.
type Options struct {
	Spec                            // the plain workload of the models unless set
	Curvature Curvature             // how gradients react to errors; nil: they do not
	Progress  func(done, total int) // if not nil, called from the caller's goroutine; the unit is nodes, products or steps

	// Probes and Seed are for estimates: the number of random vectors or runs, at least LeastProbes, and what they are drawn
	// by. LanczosSteps is the number of products for each vector of a Sketch, at least 2.
	Probes, LanczosSteps int
	Seed                 uint64
}

// check rejects what is wrong for T = steps over w.
func (o Options) check(w *graph.CSR, steps int) error {
	if err := o.Spec.Check(steps); err != nil {
		return err
	}
	if o.Kind != Prefix {
		if err := checkSquare(w); err != nil {
			return err
		}
	}
	return o.Curvature.Check(o.Spec, w, steps)
}

// Gram returns the T×T Gram matrix H of the workload over the row-stochastic n×n gossip matrix w (exact up to rounding,
// about 1e-14 relative). Directed gossip matrices are welcome. For the Prefix kind w is not read and may be nil.
//
// Symmetric w up to 2048 nodes costs the eigenvalues of w, O(n³ + nT). Any other costs n sequences W^a e_i and their
// inner products, O(n·T·nnz + n²T²), in O(T·max(n, 10⁶/T) + T²) memory. Nothing of size (nT)² or n² T is ever stored.
//
// The errors are T < 1, a matrix that is not square or not finite, and the context's when it ends first.
func Gram(ctx context.Context, w *graph.CSR, steps int, opts Options) (*mat.SymDense, error) {
	k, err := NewKernel(ctx, w, steps, opts)
	if err != nil {
		return nil, err
	}
	return k.Gram(), nil
}

// PrefixGram returns AᵀA for the prefix-sum matrix A: H[s,s'] = T - max(s,s').
func PrefixGram(steps int) *mat.SymDense {
	return dense.NewSym(steps, func(_, later int) float64 { return float64(steps - later) })
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

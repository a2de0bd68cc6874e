package workload

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/gemm"
)

// panelFloats is the size a panel of several nodes is filled up to: 8 MB. One node's panel, T·n, may be larger.
const panelFloats = 1 << 20

// panel holds the sequences W^(e+p) e_i of a few nodes side by side: T rows (p), n columns a node.
type panel struct {
	w     *graph.CSR
	steps int
	first int // e
	nodes int // n
	width int // nodes a panel has room for
	data  []float64
}

func newPanel(w *graph.CSR, steps int, kind Kind, width int) *panel {
	n, _ := w.Dims()
	return &panel{w: w, steps: steps, first: kind.firstPower(), nodes: n, width: width,
		data: make([]float64, steps*n*width)}
}

// fill computes the sequences of nodes from..to-1 in parallel; it needs to-from ≤ width.
func (p *panel) fill(from, to int) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), to-from) {
		wg.Go(func() {
			for i := range next {
				p.fillNode(i, i-from)
			}
		})
	}
	for i := from; i < to; i++ {
		next <- i
	}
	close(next)
	wg.Wait()
}

func (p *panel) fillNode(node, slot int) {
	row := func(a int) []float64 {
		at := (a*p.width + slot) * p.nodes
		return p.data[at : at+p.nodes]
	}
	unit := make([]float64, p.nodes)
	unit[node] = 1
	if p.first == 0 {
		copy(row(0), unit)
	} else {
		p.w.MulVecTo(row(0), false, unit)
	}
	for a := 1; a < p.steps; a++ {
		p.w.MulVecTo(row(a), false, row(a-1))
	}
}

// addKernel adds Σ over the panel's first count nodes of (W^(e+p) e_i)·(W^(e+q) e_i) to kernel[p,q] for p ≥ q.
func (p *panel) addKernel(kernel []float64, count int) {
	const rows = 128 // tiles above the diagonal are skipped
	all := func(from, to, cols int) blas64.General {
		return blas64.General{Rows: to - from, Cols: cols, Stride: p.width * p.nodes,
			Data: p.data[from*p.width*p.nodes:]}
	}
	for from := 0; from < p.steps; from += rows {
		to := min(from+rows, p.steps)
		c := blas64.General{Rows: to - from, Cols: to, Stride: p.steps, Data: kernel[from*p.steps:]}
		gemm.Gemm(blas.NoTrans, blas.Trans, 1, all(from, to, count*p.nodes), all(0, to, count*p.nodes), 1, c)
	}
}

// addSequences fills the kernel of any w, by the sequences of all nodes.
func (k *Kernel) addSequences(ctx context.Context, w *graph.CSR, opts Options) error {
	n, _ := w.Dims()
	p := newPanel(w, k.steps, opts.Spec.Kind, min(n, max(1, panelFloats/(k.steps*n))))
	for from := 0; from < n; from += p.width {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("Gram matrix after %d of %d nodes: %w", from, n, err)
		}
		to := min(from+p.width, n)
		p.fill(from, to)
		p.addKernel(k.k, to-from)
		if opts.Progress != nil {
			opts.Progress(to, n)
		}
	}
	return nil
}

// NodeGrams calls visit with the Gram matrix H_i = A_iᵀ A_i (T×T) of every node i in order; Σ_i H_i is Gram's result.
// visit owns the matrix it is given. An error of visit ends the walk and is returned.
func NodeGrams(ctx context.Context, w *graph.CSR, steps int, opts Options,
	visit func(i int, h *mat.SymDense) error) error {
	if steps < 1 {
		return fmt.Errorf("steps T = %d: must be at least 1", steps)
	}
	if opts.Spec.Kind == Prefix {
		return fmt.Errorf("the %v workload has no nodes", opts.Spec.Kind)
	}
	if err := checkSquare(w); err != nil {
		return err
	}
	n, _ := w.Dims()
	p := newPanel(w, steps, opts.Spec.Kind, 1)
	kernel := &Kernel{steps, make([]float64, steps*steps)}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("Gram matrix of node %d: %w", i, err)
		}
		clear(kernel.k)
		p.fill(i, i+1)
		p.addKernel(kernel.k, 1)
		if err := visit(i, kernel.Gram()); err != nil {
			return err
		}
		if opts.Progress != nil {
			opts.Progress(i+1, n)
		}
	}
	return nil
}

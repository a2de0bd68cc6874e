package workload

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/internal/parallel"
)

// panelFloats is the size a panel of several nodes is filled up to: 8 MB. One node's panel, T·n, may be larger.
const panelFloats = 1 << 20

// panel holds the sequences W^(first + stride·p) e_i of a few nodes side by side: a row for every p, n columns a node.
type panel struct {
	w     *graph.CSR
	lags  lags
	nodes int // n
	width int // nodes a panel has room for
	data  []float64

	starts mat.Matrix // vectors, as rows, in the place of the unit vectors e_i; nil: those
	root   *mat.Dense // root R of a metric: inner products are of Rx instead of x; nil: the identity
}

// newPanel returns an empty panel for count nodes, or as many as 8 MB have room for.
func newPanel(w *graph.CSR, l lags, count int) *panel {
	n, _ := w.Dims()
	width := min(count, max(1, panelFloats/(l.count*n)))
	return &panel{w: w, lags: l, nodes: n, width: width, data: make([]float64, l.count*n*width)}
}

// fill computes the sequences of nodes from..to-1 in parallel; it needs to-from ≤ width.
func (p *panel) fill(from, to int) {
	parallel.For(to-from, func(slot int) { p.fillNode(from+slot, slot) })
}

func (p *panel) fillNode(node, slot int) {
	x := make([]float64, p.nodes)
	if p.starts != nil {
		mat.Row(x, node, p.starts)
	} else {
		x[node] = 1
	}
	row := func(tau int) []float64 { return p.row(tau, slot) }
	if p.lags.rule != nil {
		p.lags.rule.rowsTo(row, p.lags.count, x, p.w)
		if p.root != nil {
			rows := mat.NewDense(p.lags.count, p.nodes, nil)
			for tau := range p.lags.count {
				rows.SetRow(tau, row(tau))
			}
			dense.Mul(rows, mat.DenseCopyOf(rows), p.root.T())
			for tau := range p.lags.count {
				copy(row(tau), rows.RawRowView(tau))
			}
		}
		return
	}
	p.lags.rowsTo(row, x, func(dst, x []float64) { p.w.MulVecTo(dst, false, x) })
}

// row returns the n numbers of row τ in a node's place.
func (p *panel) row(tau, slot int) []float64 {
	at := (tau*p.width + slot) * p.nodes
	return p.data[at : at+p.nodes]
}

// addKernel adds Σ over the panel's first count nodes of the inner products of rows p and q to kernel[p,q] for p ≥ q.
func (p *panel) addKernel(kernel []float64, count int) {
	const rows = 128 // tiles above the diagonal are skipped
	all := func(from, to, cols int) blas64.General {
		return blas64.General{Rows: to - from, Cols: cols, Stride: p.width * p.nodes,
			Data: p.data[from*p.width*p.nodes:]}
	}
	for from := 0; from < p.lags.count; from += rows {
		to := min(from+rows, p.lags.count)
		c := blas64.General{Rows: to - from, Cols: to, Stride: p.lags.count, Data: kernel[from*p.lags.count:]}
		gemm.Gemm(blas.NoTrans, blas.Trans, 1, all(from, to, count*p.nodes), all(0, to, count*p.nodes), 1, c)
	}
}

// addAll adds the inner products of the sequences of the first count nodes to a kernel.
func (p *panel) addAll(ctx context.Context, kernel []float64, count int, progress func(done, total int)) error {
	for from := 0; from < count; from += p.width {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("Gram matrix after %d of %d nodes: %w", from, count, err)
		}
		to := min(from+p.width, count)
		p.fill(from, to)
		p.addKernel(kernel, to-from)
		if progress != nil {
			progress(to, count)
		}
	}
	return nil
}

// NodeGrams calls visit with the Gram matrix H_i = A_iᵀ A_i (T×T) of every node i in order; Σ_i H_i is Gram's result.
// visit owns the matrix it is given. An error of visit ends the walk and is returned.
func NodeGrams(ctx context.Context, w *graph.CSR, steps int, opts Options,
	visit func(i int, h *mat.SymDense) error) error {
	return NodeKernels(ctx, w, steps, opts, func(i int, k *Kernel) error { return visit(i, k.Gram()) })
}

// NodeKernels is NodeGrams for the kernels of the nodes, of which the errors of single steps are made, if they are known
// (Kernel.HasSteps). Networks that change take n²T numbers of memory; the error is ErrNotExact where that is more than 1 GB.
func NodeKernels(ctx context.Context, w *graph.CSR, steps int, opts Options,
	visit func(i int, k *Kernel) error) error {
	if opts.Spec.Kind == Prefix {
		return fmt.Errorf("the %v workload has no nodes", opts.Spec.Kind)
	}
	r, err := opts.reactingSpec(w, steps)
	if err != nil {
		return err
	}
	n, _ := w.Dims()
	if r.curvature.Varies(r.Spec) {
		c, err := r.changingNetwork(w, steps)
		if err != nil {
			return err
		}
		return c.nodeGrams(ctx, func(i int, h *mat.SymDense) error {
			err := visit(i, c[0].kernel(h))
			if opts.Progress != nil {
				opts.Progress(i+1, n)
			}
			return err
		})
	}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("Gram matrix of node %d: %w", i, err)
		}
		k, err := r.nodeKernel(ctx, w, steps, i)
		if err != nil {
			return err
		}
		if err := visit(i, k); err != nil {
			return err
		}
		if opts.Progress != nil {
			opts.Progress(i+1, n)
		}
	}
	return nil
}

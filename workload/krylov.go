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

// panel holds the sequences W^(first + stride·p) x of a few vectors of a basis side by side: a row for every p, n columns a
// vector.
type panel struct {
	basis
	lags  lags
	nodes int // n
	width int // vectors a panel has room for
	data  []float64
}

// newPanel returns an empty panel for count vectors, or as many as 8 MB have room for.
func newPanel(b basis, l lags, count int) *panel {
	n, _ := b.w.Dims()
	width := min(count, max(1, panelFloats/(l.count*n)))
	return &panel{basis: b, lags: l, nodes: n, width: width, data: make([]float64, l.count*n*width)}
}

// fill computes the sequences of nodes from..to-1 in parallel; it needs to-from ≤ width.
func (p *panel) fill(from, to int) {
	parallel.For(to-from, func(slot int) { p.fillNode(from+slot, slot) })
}

func (p *panel) fillNode(node, slot int) {
	row := func(tau int) []float64 { return p.row(tau, slot) }
	p.lags.rowsTo(row, p.start(node), p.w)
	if p.root == nil {
		return
	}
	rows := mat.NewDense(p.lags.count, p.nodes, nil)
	for tau := range p.lags.count {
		rows.SetRow(tau, row(tau))
	}
	dense.Mul(rows, mat.DenseCopyOf(rows), p.root.T())
	for tau := range p.lags.count {
		copy(row(tau), rows.RawRowView(tau))
	}
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

// addAll adds the inner products of the sequences of the first count vectors to a kernel.
func (p *panel) addAll(ctx context.Context, kernel []float64, count int, progress func(done int)) error {
	for from := 0; from < count; from += p.width {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("Gram matrix after %d of %d nodes: %w", from, count, err)
		}
		to := min(from+p.width, count)
		p.fill(from, to)
		p.addKernel(kernel, to-from)
		progress(to)
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
	if err := opts.check(w, steps); err != nil {
		return err
	}
	progress := opts.Progress
	opts.Progress = nil
	n, _ := w.Dims()
	if opts.Curvature.Varies(opts.Spec) {
		c, err := opts.changingNetwork(w, steps)
		if err != nil {
			return err
		}
		return c.nodeGrams(ctx, func(i int, h *mat.SymDense) error {
			err := visit(i, c[0].kernel(h))
			if progress != nil {
				progress(i+1, n)
			}
			return err
		})
	}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("Gram matrix of node %d: %w", i, err)
		}
		k, err := opts.kernelOver(ctx, basis{w: w, starts: mat.NewDense(1, n, basis{w: w}.start(i))}, steps)
		if err != nil {
			return err
		}
		if err := visit(i, k); err != nil {
			return err
		}
		if progress != nil {
			progress(i+1, n)
		}
	}
	return nil
}

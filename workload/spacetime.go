package workload

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/internal/parallel"
)

// SpaceTime is the squared error of noise that is correlated over time and between nodes: of covariance M ⊗ Y, with M
// (n×n) over the nodes in a step and Y = C⁻¹C⁻ᵀ (T×T) over the steps. It is linear in both,
//
//	error(M, Y) = ⟨H(M), Y⟩ = ⟨K(Y), M⟩,
//	H(M)[s,s'] = Σ_t tr((W^(t-s+e))ᵀ W^(t-s'+e) M),       H(I) = Gram,
//	K(Y) = Σ_ss' Y[s,s'] Σ_t (W^(t-s+e))ᵀ W^(t-s'+e),
//
// with e the workload's first power, and sums over t ≥ max(s,s').
type SpaceTime struct {
	w     *graph.CSR
	steps int
	kind  Kind
}

// NewSpaceTime returns the workload of T = steps over the n×n gossip matrix w. The errors are those of Gram, and the
// Prefix kind, which has no nodes. Progress is not used.
func NewSpaceTime(w *graph.CSR, steps int, opts Options) (*SpaceTime, error) {
	if steps < 1 {
		return nil, fmt.Errorf("steps T = %d: must be at least 1", steps)
	}
	if opts.Kind == Prefix {
		return nil, fmt.Errorf("the %v workload has no nodes", opts.Kind)
	}
	if err := checkSquare(w); err != nil {
		return nil, err
	}
	return &SpaceTime{w, steps, opts.Kind}, nil
}

// Nodes returns n.
func (s *SpaceTime) Nodes() int { n, _ := s.w.Dims(); return n }

// Steps returns T.
func (s *SpaceTime) Steps() int { return s.steps }

// TimeGram returns H(M), T×T, for a positive definite M, n×n: with M = LLᵀ the sequences of Gram start with the columns
// of L instead of unit vectors. Cost and memory are those of Gram for W that is not symmetric.
func (s *SpaceTime) TimeGram(ctx context.Context, m *mat.SymDense) (*mat.SymDense, error) {
	n := s.Nodes()
	if m.SymmetricDim() != n {
		panic(mat.ErrShape)
	}
	var root dense.Cholesky
	if !root.Factorize(m) {
		return nil, errors.New("covariance of the noise is not positive definite in floating point")
	}
	return s.gram(ctx, root.RawU())
}

// VectorGram returns H(bbᵀ), T×T, for a vector b over the nodes: of H(M) what one source of noise makes of it.
func (s *SpaceTime) VectorGram(ctx context.Context, b []float64) (*mat.SymDense, error) {
	return s.gram(ctx, mat.NewDense(1, s.Nodes(), b))
}

// gram returns H(LLᵀ) for the rows of Lᵀ.
func (s *SpaceTime) gram(ctx context.Context, starts mat.Matrix) (*mat.SymDense, error) {
	k := &Kernel{s.steps, make([]float64, s.steps*s.steps)}
	count, n := starts.Dims()
	p := newPanel(s.w, s.steps, s.kind, min(count, max(1, panelFloats/(s.steps*n))))
	p.starts = starts
	for from := 0; from < count; from += p.width {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		to := min(from+p.width, count)
		p.fill(from, to)
		p.addKernel(k.k, to-from)
	}
	return k.Gram(), nil
}

// SpaceGram returns K(Y), n×n, for a symmetric Y, T×T. With Ŷ[p,q] = Σ_t Y[t-p,t-q] it is Σ_pq Ŷ[p,q] (W^(p+e))ᵀW^(q+e),
// which is made column by column: by products with Ŷ, and then by Horner's rule in Wᵀ. Cost and memory are twice those
// of TimeGram.
func (s *SpaceTime) SpaceGram(ctx context.Context, y *mat.SymDense) (*mat.SymDense, error) {
	if y.SymmetricDim() != s.steps {
		panic(mat.ErrShape)
	}
	n := s.Nodes()
	along := blas64.General{Rows: s.steps, Cols: s.steps, Stride: s.steps, Data: alongDiagonals(y)}
	p, q := s.panel(), s.panel()
	all := func(p *panel, count int) blas64.General {
		return blas64.General{Rows: s.steps, Cols: count * n, Stride: p.width * n, Data: p.data}
	}
	columns := make([]float64, n*n) // row i: column i of K
	for from := 0; from < n; from += p.width {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		to := min(from+p.width, n)
		p.fill(from, to)
		gemm.Gemm(blas.NoTrans, blas.NoTrans, 1, along, all(p, to-from), 0, all(q, to-from))
		parallel.For(to-from, func(slot int) {
			q.horner(columns[(from+slot)*n:(from+slot+1)*n], slot)
		})
	}
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			k.SetSym(i, j, (columns[i*n+j]+columns[j*n+i])/2)
		}
	}
	return k, nil
}

// panel returns an empty panel, of as many nodes as 8 MB have room for.
func (s *SpaceTime) panel() *panel {
	n := s.Nodes()
	return newPanel(s.w, s.steps, s.kind, min(n, max(1, panelFloats/(s.steps*n))))
}

// horner writes Σ_p (Wᵀ)^(p+e) row(p) of a node's place to dst.
func (p *panel) horner(dst []float64, slot int) {
	copy(dst, p.row(p.steps-1, slot))
	next := make([]float64, len(dst))
	for power := p.steps - 2; power >= 0; power-- {
		p.w.MulVecTo(next, true, dst)
		for i, v := range p.row(power, slot) {
			dst[i] = next[i] + v
		}
	}
	for range p.first {
		p.w.MulVecTo(next, true, dst)
		copy(dst, next)
	}
}

// alongDiagonals returns Ŷ[p,q] = Σ_{t ≥ max(p,q)} Y[t-p,t-q], T×T row by row.
func alongDiagonals(y *mat.SymDense) []float64 {
	steps := y.SymmetricDim()
	sums := make([]float64, steps*steps)
	for lag := range steps {
		var sum float64
		for s := range steps - lag { // Y[s,s+lag], that is p = T-1-s, q = p-lag
			sum += y.At(s, s+lag)
			p := steps - 1 - s
			sums[p*steps+p-lag], sums[(p-lag)*steps+p] = sum, sum
		}
	}
	return sums
}

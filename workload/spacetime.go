package workload

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/dense"
	"mafalda/internal/fault"
	"mafalda/internal/gemm"
	"mafalda/internal/lists"
	"mafalda/internal/parallel"
)

// SpaceTime is the squared error of noise that is correlated over time and between nodes: of covariance M ⊗ Y, with M
// (n×n) over the nodes in a step and Y = C⁻¹C⁻ᵀ (T×T) over the steps. It is linear in both,
//
//	error(M, Y) = ⟨H(M), Y⟩ = ⟨K(Y), M⟩,         H(I) = Gram,
//
// and for a plain workload, with e its first power and sums over t ≥ max(s,s'),
//
//	H(M)[s,s'] = Σ_t tr((W^(t-s+e))ᵀ W^(t-s'+e) M),
//	K(Y) = Σ_ss' Y[s,s'] Σ_t (W^(t-s+e))ᵀ W^(t-s'+e).
//
// Where nodes miss steps, each for itself, it is the expected error: see [Absence].
type SpaceTime struct {
	w       *graph.CSR
	steps   int
	spec    Options // spec with all nodes in every step
	absence Absence
}

// NewSpaceTime returns the workload of T = steps over the n×n gossip matrix w. It fails as Gram does, and for
//   - the Prefix kind, which has no nodes;
//   - networks that change (fault.Argument): noise that should cancel between nodes would stay.
//
// Progress is not used.
func NewSpaceTime(w *graph.CSR, steps int, opts Options) (*SpaceTime, error) {
	if opts.Spec.Kind == Prefix {
		return nil, fmt.Errorf("the %v workload has no nodes", opts.Spec.Kind)
	}
	if err := opts.check(w, steps); err != nil {
		return nil, err
	}
	s := Options{Spec: opts.Spec, Curvature: opts.Curvature}
	if field := s.Changes.given(); field != "" {
		return nil, fault.New(field, nil, "noise that nodes share needs the same network in every step: leave out [%s]", field)
	}
	absence := s.Absence
	if s.Curvature != nil && absence.MissedSteps > 0 {
		return nil, fault.New("Curvature", nil, "with noise that nodes share is for nodes that miss no steps: leave out [MissedSteps]")
	}
	s.Absence = Absence{}
	return &SpaceTime{w, steps, s, absence}, nil
}

// Nodes returns the number of nodes, n.
func (s *SpaceTime) Nodes() int { n, _ := s.w.Dims(); return n }

// Steps returns the number of steps, T.
func (s *SpaceTime) Steps() int { return s.steps }

// TimeGram returns H(M), T×T, for a positive definite M, n×n: with M = LLᵀ the sequences of Gram start with the columns
// of L instead of unit vectors. It costs as much time and memory as Gram does for W that is not symmetric, and twice the
// time where nodes miss steps.
func (s *SpaceTime) TimeGram(ctx context.Context, m *mat.SymDense) (*mat.SymDense, error) {
	k, err := s.TimeKernel(ctx, m)
	if err != nil {
		return nil, err
	}
	return k.Gram(), nil
}

// TimeKernel returns what TimeGram is the sum of: the errors of single steps, too, of noise of covariance M.
func (s *SpaceTime) TimeKernel(ctx context.Context, m *mat.SymDense) (*Kernel, error) {
	if m.SymmetricDim() != s.Nodes() {
		panic(mat.ErrShape)
	}
	var root dense.Cholesky
	if !root.Factorize(m) {
		return nil, errors.New("covariance of the noise is not positive definite in floating point")
	}
	return s.sharedKernel(ctx, root.RawU(), lists.Make(s.Nodes(), func(i int) float64 { return m.At(i, i) }))
}

// VectorGram returns H(bbᵀ), T×T, for a vector b over the nodes: of H(M) what one source of noise makes of it.
func (s *SpaceTime) VectorGram(ctx context.Context, b []float64) (*mat.SymDense, error) {
	variances := lists.Map(b, func(v float64) float64 { return v * v })
	k, err := s.sharedKernel(ctx, mat.NewDense(1, s.Nodes(), b), variances)
	if err != nil {
		return nil, err
	}
	return k.Gram(), nil
}

// kernel returns the kernel of H(LLᵀ); the rows of starts are the rows of Lᵀ.
func (s *SpaceTime) kernel(ctx context.Context, starts mat.Matrix) (*Kernel, error) {
	k, err := s.spec.kernelOver(ctx, basis{w: s.w, starts: starts}, s.steps)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return k, err
}

// SpaceGram returns K(Y), n×n, for a symmetric Y, T×T, at twice the cost of TimeGram. Where nodes miss steps its entries between
// nodes are of ĀYĀᵀ in the place of Y, and its diagonal of E[AYAᵀ]: see Kernel.
func (s *SpaceTime) SpaceGram(ctx context.Context, y *mat.SymDense) (*mat.SymDense, error) {
	if y.SymmetricDim() != s.steps {
		panic(mat.ErrShape)
	}
	if s.absence.MissedSteps == 0 {
		return s.spaceGram(ctx, y)
	}
	k, err := s.spaceGram(ctx, s.absence.spreadApart(y))
	if err != nil {
		return nil, err
	}
	own, err := s.spaceGram(ctx, s.absence.spread(y))
	if err != nil {
		return nil, err
	}
	for i := range s.Nodes() {
		k.SetSym(i, i, own.At(i, i))
	}
	return k, nil
}

// spaceGram is SpaceGram where no node misses a step. With R_τ the response to a gradient of row τ of the kernel, and
// c[τ,τ'] how often ⟨R_τ, R_τ'⟩ counts in ⟨Gram, Y⟩, it is Σ c[τ,τ'] R_τᵀR_τ', which is made column by column: by products
// with c, and then by Horner's rule in Wᵀ.
func (s *SpaceTime) spaceGram(ctx context.Context, y *mat.SymDense) (*mat.SymDense, error) {
	if s.spec.feedsBack() && !s.spec.evenly() {
		return nil, fault.New("Curvature", nil, "with noise that nodes share, and momentum or tracking, is for constant "+
			"rates and gossip in every step")
	}
	n := s.Nodes()
	columns := make([]float64, n*n) // row i: column i of K
	for _, strand := range s.spec.strands(s.steps) {
		if err := s.addColumns(ctx, columns, strand, s.counts(y, strand.count)); err != nil {
			return nil, err
		}
	}
	return dense.NewSym(n, func(i, j int) float64 { return (columns[i*n+j] + columns[j*n+i]) / 2 }), nil
}

// addColumns adds the columns of K that come from a strand.
func (s *SpaceTime) addColumns(ctx context.Context, columns []float64, of strand, counts []float64) error {
	n, rows := s.Nodes(), of.count
	p, q := newPanel(basis{w: s.w}, of.lags, n), newPanel(basis{w: s.w}, of.lags, n)
	c := blas64.General{Rows: rows, Cols: rows, Stride: rows, Data: counts}
	all := func(p *panel, count int) blas64.General {
		return blas64.General{Rows: rows, Cols: count * n, Stride: p.width * n, Data: p.data}
	}
	back := s.w.Transpose()
	for from := 0; from < n; from += p.width {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		to := min(from+p.width, n)
		p.fill(from, to)
		gemm.Gemm(blas.NoTrans, blas.NoTrans, of.weight, c, all(p, to-from), 0, all(q, to-from))
		parallel.For(to-from, func(slot int) {
			column := make([]float64, n)
			of.adjointTo(column, func(tau int) []float64 { return q.row(tau, slot) }, back)
			floats.Add(columns[(from+slot)*n:(from+slot+1)*n], column)
		})
	}
	return nil
}

// counts returns c of spaceGram, symmetric, for a number of rows.
func (s *SpaceTime) counts(y *mat.SymDense, rows int) []float64 {
	k := s.spec.kernel(s.steps, packLower(make([]float64, rows*rows)))
	lower := k.base.counts(k.weights, k.filter.spread(y))
	c := make([]float64, rows*rows)
	for lag := range rows {
		for q, v := range lower.lag(lag) {
			if lag > 0 {
				v /= 2
			}
			c[(q+lag)*rows+q], c[q*rows+q+lag] = v, v
		}
	}
	return c
}

package protocols

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/gemm"
)

// View is what one node, or several that collude, learn from a run of PPAC: their own values and fragments, the fragments they
// receive, and the values v_ℓ(τ) that their neighbours send in the rounds τ = 0, …, t. It is linear in the sources of randomness
// (Equation 17); coalitions go beyond the paper, which has single nodes.
type View struct {
	protocol  *PPAC
	coalition []int
	rounds    int
	span      *span
}

// View finds what the observers learn up to a round, which may be Forever. The errors are observers that do not exist, are named
// twice, or are all nodes (ErrNetwork), and the context's. It takes O(n³) operations at most.
func (p *PPAC) View(ctx context.Context, observers []int, rounds int) (*View, error) {
	for i, v := range observers {
		if v < 0 || v >= p.Nodes() || slices.Contains(observers[:i], v) {
			return nil, fmt.Errorf("%w: observer %d does not exist or is named twice", ErrNetwork, v)
		}
	}
	if len(observers) == 0 || len(observers) >= p.Nodes() || rounds < 0 {
		return nil, fmt.Errorf("%w: %d observers of %d nodes in %d rounds", ErrNetwork, len(observers), p.Nodes(), rounds)
	}
	inside := func(v int) bool { return slices.Contains(observers, v) }
	s, err := (&observation{weights: p.weights, residues: p.residues,
		known: func(v int) bool {
			return inside(v) || !slices.ContainsFunc(p.neighbours[v], func(u int) bool { return !inside(u) })
		},
		seen: func(v int) bool { return slices.ContainsFunc(p.neighbours[v], inside) },
	}).observe(ctx, rounds)
	if err != nil {
		return nil, err
	}
	return &View{p, slices.Clone(observers), rounds, s}, nil
}

// Informative returns the informative sequence (Definition 6.1): the messages that tell the observers something new, by round and
// then sender. All others are combinations of these, of what they knew, and of what they received in preparation.
func (v *View) Informative() []Message {
	m := slices.Clone(v.span.messages)
	sortMessages(m)
	return m
}

// Ceiling reports that it would have taken too much precision to say what the observers see: they are assumed to know all of v(0), and
// leakages are upper bounds.
func (v *View) Ceiling() bool { return v.span.ceiling }

// Leakage is what a coalition learns of a node's value.
type Leakage struct {
	Victim int
	Nats   float64 // mutual information I(D; u_victim), +Inf if the value is recovered
}

// Leakages computes the mutual information between the view and the value of every node outside of the coalition, by node, for
// Gaussian values and noise (Theorem 6.6):
//
//	π = ½ log(1 + σ_j² aᵀΣ⁻¹a) = -½ log(1 - ‖P ê_j‖²)
//
// where P projects on the span of what is known, written in sources of variance one: the share of u_j that is explained. The
// projection is by Householder reflections; Σ, whose condition is the square, is not formed.
//
// Which values are recovered (Case 2, +Inf) is decided by the graph: a value is safe for ever unless all neighbours of the node that
// are not observers have no neighbours but the node and observers (docs/protocols.md). Until then it is a matter of what has been seen.
func (v *View) Leakages(d Deviations) ([]Leakage, error) {
	if err := d.check(v.protocol); err != nil {
		return nil, err
	}
	k, err := v.known(d)
	if err != nil {
		return nil, err
	}
	var victims []int
	for j := range v.protocol.Nodes() {
		if !slices.Contains(v.coalition, j) {
			victims = append(victims, j)
		}
	}
	left := k.unexplained(victims)
	var leaks []Leakage
	for i, j := range victims {
		if v.recovers(j) {
			left[i] = 0
		}
		leaks = append(leaks, Leakage{j, math.Max(-math.Log(left[i])/2, 0)})
	}
	return leaks, nil
}

// recovers decides whether the view determines u_j. If the graph allows it at all, u_j is the sum of v_s(0) over the neighbours s that
// are not observers, up to what is known beforehand: the question is whether that sum is in the span of what has been seen.
func (v *View) recovers(j int) bool {
	if !recoveredBy(v.protocol.neighbours, v.coalition, j) {
		return false
	}
	return v.span.determines(v.protocol.neighbours[j])
}

// knowledge is what is known, as orthogonal directions in the space of sources scaled to variance one.
type knowledge struct {
	direct  []blas64.Vector // by node: the unit vector of the completing fragment it sent to an observer, or empty
	columns *mat.Dense      // sources×rank: the messages, orthogonal to direct
	upper   *mat.TriDense   // R of columns = QR
}

// known builds the columns. For a direction x of the basis, a source has the coefficient of xᵀv(0) (Equation 13) times its standard
// deviation, where x is 0 on the nodes whose v(0) is known: x_m for u_j and x_k - x_m for Γ_jk, if m = m_j. Sources that are known
// have none. If m is an observer, u_j less the sum of the unknown Γ_jk is known: that direction is taken out.
func (v *View) known(d Deviations) (*knowledge, error) {
	p, s := v.protocol, v.span
	inside := func(i int) bool { return slices.Contains(v.coalition, i) }
	rank, width := s.rank(), len(s.hidden)
	k := &knowledge{direct: make([]blas64.Vector, p.Nodes())}
	scaled := mat.NewDense(p.sources, max(rank, 1), nil)
	x := func(r, node int) float64 {
		if at := s.place[node]; at >= 0 {
			return s.basis[r*width+at]
		}
		return 0
	}
	for j, around := range p.neighbours {
		if inside(j) {
			continue
		}
		m := p.chosen[j]
		row := scaled.RawRowView(j)
		for r := range rank {
			row[r] = d.Value(j) * x(r, m)
		}
		for at, n := range around {
			if source := p.source[j][at]; source >= 0 && !inside(n) {
				row, deviation := scaled.RawRowView(source), d.Noise(j, n)
				for r := range rank {
					row[r] = deviation * (x(r, n) - x(r, m))
				}
			}
		}
		if inside(m) {
			k.direct[j] = v.takeOut(scaled, d, j)
		}
	}
	if rank > 0 {
		reduced := sorted(scaled)
		gemm.Triangularize(p.sources, rank, reduced.RawMatrix().Data, reduced.RawMatrix().Stride)
		k.upper = mat.NewTriDense(rank, mat.Upper, nil)
		for i := range rank {
			for j := i; j < rank; j++ {
				k.upper.SetTri(i, j, reduced.At(i, j))
			}
			if reduced.At(i, i) == 0 {
				return nil, fmt.Errorf("what node %s learns is singular in double precision", p.graph.Label(v.coalition[0]))
			}
		}
		k.columns = scaled
	}
	return k, nil
}

// sorted returns a copy with the longest rows on top: reflections then lose little where rows are of different sizes (Cox & Higham 1998).
func sorted(m *mat.Dense) *mat.Dense {
	rows, cols := m.Dims()
	order, size := make([]int, rows), make([]float64, rows)
	for i := range order {
		order[i], size[i] = i, blas64.Nrm2(vector(m.RawRowView(i)))
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
	out := mat.NewDense(rows, cols, nil)
	for to, from := range order {
		out.SetRow(to, m.RawRowView(from))
	}
	return out
}

// takeOut makes the columns orthogonal to the direction of u_j - ΣΓ_jk, which an observer has received, and returns the direction.
func (v *View) takeOut(columns *mat.Dense, d Deviations, j int) blas64.Vector {
	p := v.protocol
	direction := make([]float64, p.sources)
	direction[j] = d.Value(j)
	for at, n := range p.neighbours[j] {
		if source := p.source[j][at]; source >= 0 && !slices.Contains(v.coalition, n) {
			direction[source] = -d.Noise(j, n)
		}
	}
	w := vector(direction)
	blas64.Scal(1/blas64.Nrm2(w), w)
	_, rank := columns.Dims()
	along := vector(make([]float64, rank))
	for source, c := range direction {
		if c != 0 {
			blas64.Axpy(c, vector(columns.RawRowView(source)), along)
		}
	}
	for source, c := range direction {
		if c != 0 {
			blas64.Axpy(-c, along, vector(columns.RawRowView(source)))
		}
	}
	return w
}

// unexplained returns 1 - ‖Pê_j‖² of the victims j: the shares of the variances of u_j that are left, with a relative error of about
// 1e-16 over their square root.
func (k *knowledge) unexplained(victims []int) []float64 {
	left := make([]float64, len(victims))
	if k.columns == nil {
		for i, j := range victims {
			left[i] = k.rest(j, nil)
		}
		return left
	}
	_, rank := k.columns.Dims()
	solved := mat.NewDense(len(victims), rank, nil) // rows y with Rᵀy = (row j of the columns)
	for i, j := range victims {
		solved.SetRow(i, k.columns.RawRowView(j))
	}
	blas64.Trsm(blas.Right, blas.NoTrans, 1, k.upper.RawTriangular(), solved.RawMatrix())
	for i, j := range victims {
		left[i] = k.rest(j, solved.RawRowView(i))
	}
	return left
}

// rest returns the share for victim j, from the solution y that belongs to it, which it overwrites.
func (k *knowledge) rest(j int, y []float64) float64 {
	direct, explained := k.direct[j], 0.0
	if direct.N > 0 {
		explained += direct.Data[j] * direct.Data[j]
	}
	if explained += blas64.Dot(vector(y), vector(y)); explained < 0.5 {
		return 1 - explained
	}
	// nothing may be taken away from 1: the part of ê_j that is left, itself. What rounding leaves of the span in it is taken out again.
	sources := direct.N
	if y != nil {
		sources, _ = k.columns.Dims()
	}
	left := vector(make([]float64, sources))
	left.Data[j] = 1
	for range 3 {
		if direct.N > 0 {
			blas64.Axpy(-blas64.Dot(direct, left), direct, left)
		}
		if y != nil {
			along := vector(y)
			blas64.Gemv(blas.Trans, 1, k.columns.RawMatrix(), left, 0, along)
			blas64.Trsv(blas.Trans, k.upper.RawTriangular(), along)
			blas64.Trsv(blas.NoTrans, k.upper.RawTriangular(), along)
			blas64.Gemv(blas.NoTrans, -1, k.columns.RawMatrix(), along, 1, left)
		}
	}
	return math.Pow(blas64.Nrm2(left), 2)
}

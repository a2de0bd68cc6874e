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
	nats := k.nats(victims)
	var leaks []Leakage
	for i, j := range victims {
		if v.recovers(j) {
			nats[i] = math.Inf(1)
		}
		leaks = append(leaks, Leakage{j, nats[i]})
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
	sources int
	wide    bool            // standard deviations are far apart
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
	least, most := d.span(p)
	k := &knowledge{sources: p.sources, wide: most > wideRange*least, direct: make([]blas64.Vector, p.Nodes())}
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

// faint is the share of a variance below which what is explained says it better than what is left.
const faint = 1e-9

// nats returns -½ log(1 - ‖Pê_j‖²) of the victims j.
func (k *knowledge) nats(victims []int) []float64 {
	nats := make([]float64, len(victims))
	var hard []int // numbers of victims
	solved := k.solve(victims)
	for i, j := range victims {
		explained := 0.0
		if direct := k.direct[j]; direct.N > 0 {
			explained += direct.Data[j] * direct.Data[j]
		}
		if solved != nil {
			y := vector(solved.RawRowView(i))
			explained += blas64.Dot(y, y)
		}
		nats[i] = -math.Log1p(-explained) / 2
		if k.wide && !(explained < faint) || !(explained < 0.5) {
			hard = append(hard, i)
		}
	}
	for from := 0; from < len(hard); from += together {
		k.leave(victims, hard[from:min(from+together, len(hard))], nats)
	}
	return nats
}

// together is for how many victims vectors are held at a time.
const together = 256

// solve returns, as rows, the y with Rᵀy = (row j of the columns), nil if there are no columns: ‖y‖² is what messages explain.
func (k *knowledge) solve(victims []int) *mat.Dense {
	if k.columns == nil {
		return nil
	}
	_, rank := k.columns.Dims()
	solved := mat.NewDense(len(victims), rank, nil)
	for i, j := range victims {
		solved.SetRow(i, k.columns.RawRowView(j))
	}
	blas64.Trsm(blas.Right, blas.NoTrans, 1, k.upper.RawTriangular(), solved.RawMatrix())
	return solved
}

// leave computes the same without taking anything from 1, from what is left: the vectors ê_j - Pê_j themselves, of which P is taken out again twice, for
// what rounding in R has left of it.
func (k *knowledge) leave(victims, hard []int, nats []float64) {
	rest := mat.NewDense(k.sources, len(hard), nil)
	for c, i := range hard {
		j := victims[i]
		rest.Set(j, c, 1)
		if direct := k.direct[j]; direct.N > 0 {
			for source, x := range direct.Data {
				rest.Set(source, c, rest.At(source, c)-direct.Data[j]*x)
			}
		}
	}
	if k.columns != nil {
		_, rank := k.columns.Dims()
		along := mat.NewDense(rank, len(hard), nil)
		for range 3 {
			blas64.Gemm(blas.Trans, blas.NoTrans, 1, k.columns.RawMatrix(), rest.RawMatrix(), 0, along.RawMatrix())
			blas64.Trsm(blas.Left, blas.Trans, 1, k.upper.RawTriangular(), along.RawMatrix())
			blas64.Trsm(blas.Left, blas.NoTrans, 1, k.upper.RawTriangular(), along.RawMatrix())
			blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, k.columns.RawMatrix(), along.RawMatrix(), 1, rest.RawMatrix())
			for c, i := range hard {
				takeDirection(rest, c, k.direct[victims[i]])
			}
		}
	}
	for c, i := range hard {
		var squared float64
		for source := range k.sources {
			squared += rest.At(source, c) * rest.At(source, c)
		}
		nats[i] = math.Max(-math.Log(squared)/2, 0)
	}
}

// takeDirection makes a column orthogonal to a unit vector, or leaves it as it is if there is none.
func takeDirection(m *mat.Dense, column int, direction blas64.Vector) {
	var along float64
	for i, x := range direction.Data {
		along += x * m.At(i, column)
	}
	for i, x := range direction.Data {
		if x != 0 {
			m.Set(i, column, m.At(i, column)-along*x)
		}
	}
}

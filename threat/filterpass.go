package threat

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
)

// gains is what the Kalman filter leaves of a round for the responses to gradients: with the gain K = (F P Cᵀ + X) S⁻¹
//
//	closed = F - K C         how what the attacker does not know goes on
//	entry  = E - K D         how a gradient enters that
//	a      = S⁻¹ D           the attacker's linear statistic for a gradient of this round
type gains struct {
	*stage
	closed     *mat.Dense // m×m
	gain       *mat.Dense // m×p, nil if nothing is seen
	s          *innovation
	statistics *mat.Dense // a, p×victims
}

// entry returns E - K D, or some of its columns; nil if there is no state or no gradient. It is made anew every time:
// kept for all rounds it would be the largest thing in memory.
func (g *gains) entry(columns ...int) *mat.Dense {
	if g.e == nil {
		return nil
	}
	e, d := g.e, g.d
	if len(columns) > 0 {
		e, d = pick(e, columns), pick(d, columns)
	}
	if g.gain == nil {
		return e
	}
	return subtract(e, mul(g.gain, d))
}

// pick returns some of the columns of m, nil for nil or none.
func pick(m *mat.Dense, columns []int) *mat.Dense {
	if m == nil || len(columns) == 0 {
		return nil
	}
	rows, _ := m.Dims()
	part := mat.NewDense(rows, len(columns), nil)
	for i := range rows {
		from, to := m.RawRowView(i), part.RawRowView(i)
		for j, v := range columns {
			to[j] = from[v]
		}
	}
	return part
}

// forward runs the Kalman filter over all rounds. Nothing is frozen when it seems to have settled: P still moves when S
// does not any more, and the values would come out too small.
func (sys *system) forward(ctx context.Context) ([]*gains, error) {
	all := make([]*gains, sys.rounds)
	var p *mat.SymDense  // covariance of the state
	var wrong *mat.Dense // what rounding can have done to it, where its scale changes
	for i := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		st := sys.stage(i)
		m, seen := st.dims()
		if p == nil && m > 0 {
			p = mat.NewSymDense(m, nil)
		}
		g := &gains{stage: st, closed: st.f}
		all[i] = g
		if seen == 0 {
			p = propagate(st, p, nil, nil)
			wrong = sys.round(wrong, g, p, nil)
			continue
		}
		s := mat.NewSymDense(seen, nil)
		s.CopySym(st.r)
		var cross *mat.Dense // F P Cᵀ + X, m×p
		if m > 0 {
			cp := mulT(st.c, whole(p))
			s = symmetric(add(mulT(cp, st.c), st.r))
			cross = add(mulT(st.f, cp), st.x)
		}
		var err error
		scale := 1 + maxDiagonal(p)
		if sys.scaled {
			if scale, err = sys.weigh(wrong, s, st); err != nil {
				return nil, err
			}
		}
		if g.s, err = invert(s, sys.degenerate, scale); err != nil {
			return nil, err
		}
		if st.d != nil {
			g.statistics = mul(g.s.inverse, st.d)
		}
		if m == 0 {
			continue
		}
		g.gain = mul(cross, g.s.inverse)
		g.closed = subtract(st.f, mul(g.gain, st.c))
		p = propagate(st, p, g.gain, cross)
		wrong = sys.round(wrong, g, p, cross)
	}
	return all, nil
}

// propagate returns F P Fᵀ + Q - K (F P Cᵀ + X)ᵀ.
func propagate(st *stage, p *mat.SymDense, gain, cross *mat.Dense) *mat.SymDense {
	if p == nil {
		return nil
	}
	next := add(mulT(mulT(st.f, whole(p)), st.f), st.q)
	if gain != nil {
		next.Sub(next, mulT(gain, cross))
	}
	return symmetric(next)
}

func add(a *mat.Dense, b mat.Matrix) *mat.Dense {
	a.Add(a, b)
	return a
}

func subtract(a, b *mat.Dense) *mat.Dense {
	var d mat.Dense
	d.Sub(a, b)
	return &d
}

func maxDiagonal(p *mat.SymDense) float64 {
	if p == nil {
		return 0
	}
	var largest float64
	for i := range p.SymmetricDim() {
		largest = math.Max(largest, p.At(i, i))
	}
	return largest
}

// statistics is what the backward pass adds: the response d of the state to an earlier gradient of a victim meets a
// gradient of the same victim in this round with M[k,l] = d·c; two in this round make diagonal.
type statistics struct {
	c        *mat.Dense // m×victims; nil: no state, or no gradient in this round
	diagonal []float64  // what two gradients of this round make, for every victim
}

// backward computes statistics, from the energy Γ of later innovations: Γ = Cᵀ S⁻¹ C + closedᵀ Γ' closed.
func (sys *system) backward(all []*gains) []statistics {
	out := make([]statistics, len(all))
	var energy *mat.SymDense
	for i := len(all) - 1; i >= 0; i-- {
		g := all[i]
		if g.d != nil || g.e != nil {
			out[i] = g.pairing(energy, len(sys.victims))
		}
		if g.closed == nil {
			continue
		}
		m, _ := g.closed.Dims()
		next := mat.NewDense(m, m, nil)
		if energy != nil {
			transposed := mat.DenseCopyOf(g.closed.T())
			next = mulT(mulT(transposed, whole(energy)), transposed)
		}
		if g.c != nil {
			next.Add(next, mul(g.c.T(), mul(g.s.inverse, g.c)))
		}
		energy = symmetric(next)
	}
	return out
}

func (g *gains) pairing(energy *mat.SymDense, victims int) statistics {
	s := statistics{diagonal: make([]float64, victims)}
	if g.statistics != nil {
		addColumnDots(s.diagonal, g.statistics, g.d)
	}
	if g.closed == nil {
		return s
	}
	m, _ := g.closed.Dims()
	s.c = mat.NewDense(m, victims, nil)
	if entry := g.entry(); energy != nil && entry != nil {
		b := mul(whole(energy), entry)
		addColumnDots(s.diagonal, b, entry)
		s.c = mul(g.closed.T(), b)
	}
	if g.statistics != nil && g.c != nil {
		s.c.Add(s.c, mul(g.c.T(), g.statistics))
	}
	return s
}

// addColumnDots adds the inner products of the columns of a and b.
func addColumnDots(dst []float64, a, b *mat.Dense) {
	rows, cols := a.Dims()
	for i := range rows {
		right := b.RawRowView(i)[:cols]
		for j, v := range a.RawRowView(i) {
			dst[j] += v * right[j]
		}
	}
}

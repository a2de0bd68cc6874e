package protocols

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"mafalda/graph"
)

// ExactView is the definition that View is tested against: the matrix ℜ_i(t) of Equation 17 in rational numbers, row by row as its
// definition has it, and everything that follows from it by elimination. It is for graphs of ten nodes or so.
type ExactView struct {
	Rows        [][]*big.Rat // of the basis: own sources and received fragments, then informative messages; a column a source
	Informative []Message    // by round, then sender
	victims     []int
}

// LaplacianRat returns I - (D-A)/d_max in rational numbers.
func LaplacianRat(g *graph.Graph) [][]*big.Rat {
	n, largest := g.Nodes(), int64(0)
	for i := range n {
		largest = max(largest, int64(g.Degree(i)))
	}
	w := make([][]*big.Rat, n)
	for i := range n {
		for j := range n {
			w[i] = append(w[i], new(big.Rat))
			switch {
			case i == j:
				w[i][j].SetFrac64(largest-int64(g.Degree(i)), largest)
			case g.Adjacency().At(i, j) != 0:
				w[i][j].SetFrac64(1, largest)
			}
		}
	}
	return w
}

// ExactView writes the view of the observers out, with a consensus matrix in rational numbers.
func (p *PPAC) ExactView(w [][]*big.Rat, observers []int, rounds int) (*ExactView, error) {
	if len(w) != p.Nodes() || rounds < 0 || rounds > 10*p.Nodes() {
		return nil, fmt.Errorf("%w: a matrix of %d rows for %d nodes, %d rounds", ErrNetwork, len(w), p.Nodes(), rounds)
	}
	v := &ExactView{}
	var pivots rationalEchelon
	inside := func(i int) bool { return slices.Contains(observers, i) }
	learn := func(row []*big.Rat) bool {
		isNew := pivots.add(row)
		if isNew {
			v.Rows = append(v.Rows, row)
		}
		return isNew
	}
	for i, around := range p.neighbours {
		if !inside(i) {
			v.victims = append(v.victims, i)
			continue
		}
		own := p.zeroRow()
		own[i].SetInt64(1)
		learn(own)
		for _, j := range around {
			learn(p.fragmentRow(i, j))
			learn(p.fragmentRow(j, i))
		}
	}
	power := identityRat(p.Nodes())
	for t := range rounds + 1 {
		for from := range p.Nodes() {
			if inside(from) || !slices.ContainsFunc(p.neighbours[from], inside) {
				continue
			}
			row := p.zeroRow() // v_from(t) = Σ_k [Wᵗ]_from,k v_k(0), v_k(0) = Σ_j Γ_jk
			for k, around := range p.neighbours {
				for _, j := range around {
					addScaled(row, power[from][k], p.fragmentRow(j, k))
				}
			}
			if learn(row) {
				v.Informative = append(v.Informative, Message{from, t})
			}
		}
		power = mulRat(power, w)
	}
	return v, nil
}

func (p *PPAC) zeroRow() []*big.Rat {
	row := make([]*big.Rat, p.sources)
	for i := range row {
		row[i] = new(big.Rat)
	}
	return row
}

// fragmentRow returns Γ_ij in terms of the sources.
func (p *PPAC) fragmentRow(i, j int) []*big.Rat {
	row := p.zeroRow()
	if j == p.chosen[i] {
		row[i].SetInt64(1)
	}
	for at, k := range p.neighbours[i] {
		switch source := p.source[i][at]; {
		case source < 0:
		case j == p.chosen[i]:
			row[source].SetInt64(-1)
		case j == k:
			row[source].SetInt64(1)
		}
	}
	return row
}

// Recovered reports whether the view determines u_j: Case 2, the rank falls when the column of u_j is taken out.
func (v *ExactView) Recovered(j int) bool {
	var pivots rationalEchelon
	for _, row := range v.Rows {
		if !pivots.add(without(row, j)) {
			return true
		}
	}
	return false
}

// Leakage returns the mutual information of the view and u_j by Theorem 6.6, rounded to double precision at the very end, or +Inf.
func (v *ExactView) Leakage(j int, p *PPAC, d Deviations) float64 {
	if v.Recovered(j) {
		return math.Inf(1)
	}
	value, _ := v.Ratio(j, p, d).Float64()
	return math.Log1p(value) / 2
}

// Ratio returns σ_j² aᵀΣ⁻¹a of a node whose value is not recovered, without any rounding.
func (v *ExactView) Ratio(j int, p *PPAC, d Deviations) *big.Rat {
	variances := p.zeroRow()
	square := func(s float64) *big.Rat {
		r := new(big.Rat)
		r.SetFloat64(s)
		return r.Mul(r, r)
	}
	for i, around := range p.neighbours {
		variances[i] = square(d.Value(i))
		for at, k := range around {
			if source := p.source[i][at]; source >= 0 {
				variances[source] = square(d.Noise(i, k))
			}
		}
	}
	// solve Σx = a by elimination of (Σ | a), then aᵀx
	n := len(v.Rows)
	system := make([][]*big.Rat, n)
	for r, row := range v.Rows {
		for _, other := range v.Rows {
			sum := new(big.Rat)
			for i, c := range row {
				if i != j && c.Sign() != 0 && other[i].Sign() != 0 {
					term := new(big.Rat).Mul(c, other[i])
					sum.Add(sum, term.Mul(term, variances[i]))
				}
			}
			system[r] = append(system[r], sum)
		}
		system[r] = append(system[r], new(big.Rat).Set(row[j]))
	}
	var pivots rationalEchelon
	for _, row := range system {
		pivots.add(row)
	}
	x := make([]*big.Rat, n)
	for i := n - 1; i >= 0; i-- {
		row := pivots.rows[slices.Index(pivots.at, i)]
		x[i] = new(big.Rat).Set(row[n])
		for k := i + 1; k < n; k++ {
			x[i].Sub(x[i], new(big.Rat).Mul(row[k], x[k]))
		}
	}
	ratio := new(big.Rat)
	for r, row := range v.Rows {
		ratio.Add(ratio, new(big.Rat).Mul(row[j], x[r]))
	}
	return ratio.Mul(ratio, variances[j])
}

// rationalEchelon is a row echelon form that grows row by row.
type rationalEchelon struct {
	rows [][]*big.Rat // a 1 in column at[i], and zeros before
	at   []int
}

// add reduces a copy of a row by the others and reports whether something is left, which it keeps.
func (e *rationalEchelon) add(row []*big.Rat) bool {
	left := without(row, -1)
	for i, r := range e.rows {
		if c := left[e.at[i]]; c.Sign() != 0 {
			addScaled(left, new(big.Rat).Neg(c), r)
		}
	}
	for at, c := range left {
		if c.Sign() != 0 {
			scale := new(big.Rat).Inv(c)
			for _, x := range left {
				x.Mul(x, scale)
			}
			e.rows, e.at = append(e.rows, left), append(e.at, at)
			return true
		}
	}
	return false
}

// without copies a row without column j.
func without(row []*big.Rat, j int) []*big.Rat {
	var short []*big.Rat
	for i, c := range row {
		if i != j {
			short = append(short, new(big.Rat).Set(c))
		}
	}
	return short
}

func addScaled(dst []*big.Rat, c *big.Rat, row []*big.Rat) {
	if c.Sign() == 0 {
		return
	}
	scale := new(big.Rat).Set(c)
	for i, x := range row {
		if x.Sign() != 0 {
			dst[i].Add(dst[i], new(big.Rat).Mul(scale, x))
		}
	}
}

func identityRat(n int) [][]*big.Rat {
	m := make([][]*big.Rat, n)
	for i := range m {
		for j := range n {
			m[i] = append(m[i], new(big.Rat))
			if i == j {
				m[i][j].SetInt64(1)
			}
		}
	}
	return m
}

func mulRat(a, b [][]*big.Rat) [][]*big.Rat {
	c := make([][]*big.Rat, len(a))
	for i, row := range a {
		for range b[0] {
			c[i] = append(c[i], new(big.Rat))
		}
		for k, x := range row {
			addScaled(c[i], x, b[k])
		}
	}
	return c
}

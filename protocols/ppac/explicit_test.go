package ppac

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"mafalda/protocols/internal/span"
)

// exactView is the definition that View is tested against: the matrix ℜ_i(t) of Equation 17 in rational numbers, row
// by row as its definition has it, and everything that follows from it by elimination. It is for graphs of ten nodes
// or so.
type exactView struct {
	rows        [][]*big.Rat   // of the basis: own sources and received fragments, then messages; a column a source
	informative []span.Message // by round, then sender
	victims     []int
}

// exactView writes the view of the observers out, with a consensus matrix in rational numbers.
func (p *Protocol) exactView(w [][]*big.Rat, observers []int, rounds int) (*exactView, error) {
	if len(w) != p.Nodes() || rounds < 0 || rounds > 10*p.Nodes() {
		return nil, fmt.Errorf("%w: a matrix of %d rows for %d nodes, %d rounds", ErrNetwork, len(w), p.Nodes(), rounds)
	}
	v := &exactView{}
	var pivots rationalEchelon
	inside := func(i int) bool { return slices.Contains(observers, i) }
	learn := func(row []*big.Rat) bool {
		isNew := pivots.add(row)
		if isNew {
			v.rows = append(v.rows, row)
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
	power := identity(p.Nodes())
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
				v.informative = append(v.informative, span.Message{From: from, Round: t})
			}
		}
		power = times(power, w)
	}
	return v, nil
}

func (p *Protocol) zeroRow() []*big.Rat {
	row := make([]*big.Rat, p.sources)
	for i := range row {
		row[i] = new(big.Rat)
	}
	return row
}

// fragmentRow returns Γ_ij in terms of the sources.
func (p *Protocol) fragmentRow(i, j int) []*big.Rat {
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

// recovered reports whether the view determines u_j: Case 2, the rank falls when the column of u_j is taken out.
func (v *exactView) recovered(j int) bool {
	var pivots rationalEchelon
	for _, row := range v.rows {
		if !pivots.add(without(row, j)) {
			return true
		}
	}
	return false
}

// leakage returns the mutual information of the view and u_j by Theorem 6.6, rounded to double precision at the very
// end, or +Inf.
func (v *exactView) leakage(j int, p *Protocol, d Deviations) float64 {
	if v.recovered(j) {
		return math.Inf(1)
	}
	value, _ := v.ratio(j, p, d).Float64()
	return math.Log1p(value) / 2
}

// ratio returns σ_j² aᵀΣ⁻¹a of a node whose value is not recovered, without any rounding.
func (v *exactView) ratio(j int, p *Protocol, d Deviations) *big.Rat {
	variances := p.zeroRow()
	square := func(s float64) *big.Rat {
		r := new(big.Rat)
		r.SetFloat64(s)
		return r.Mul(r, r)
	}
	for i, around := range p.neighbours {
		variances[i] = square(d.Value)
		for at := range around {
			if source := p.source[i][at]; source >= 0 {
				variances[source] = square(d.Noise)
			}
		}
	}
	// solve Σx = a by elimination of (Σ | a), then aᵀx
	n := len(v.rows)
	system := make([][]*big.Rat, n)
	for r, row := range v.rows {
		for _, other := range v.rows {
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
	for r, row := range v.rows {
		ratio.Add(ratio, new(big.Rat).Mul(row[j], x[r]))
	}
	return ratio.Mul(ratio, variances[j])
}

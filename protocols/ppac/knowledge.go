package ppac

import (
	"slices"

	"mafalda/protocols/internal/consensus"
	"mafalda/protocols/internal/span"
)

// known returns what every source, scaled to variance one, has in what is known, and how many columns that is, with this
// many binary digits: what messages say, and then the fragments that complete the sums of nodes which chose an observer.
//
// For a vector x of the span's basis, a source has the coefficient of xᵀv(0) (Equation 13) times its standard deviation,
// where x is 0 on the nodes whose v(0) is known: x_m for u_j and x_k - x_m for Γ_jk, if m = m_j. If m is an observer, the
// fragment Γ_jm is a column of its own, as if x_m were 1 there. Sources that are known have none.
func (v *View) known(d Deviations, bits uint) (rows []span.Vector, columns int) {
	p, basis := v.protocol, v.span.Basis(bits)
	d = d.normalize() // leakages do not depend on the unit
	one, value, noise := consensus.Fixed(1, bits), consensus.Fixed(d.Value, bits), consensus.Fixed(d.Noise, bits)
	x := func(node int) span.Vector {
		if at := v.span.Place[node]; at >= 0 {
			return basis[at]
		}
		return nil
	}
	inside := func(i int) bool { return slices.Contains(v.coalition, i) }
	rows, columns = make([]span.Vector, p.sources), len(v.span.Messages)
	for j, around := range p.neighbours {
		if inside(j) {
			continue
		}
		last := x(p.chosen[j])
		if inside(p.chosen[j]) {
			last = span.Vector{{Column: columns, Value: one}}
			columns++
		}
		rows[j] = last.Times(value, bits)
		for at, k := range around {
			if source := p.source[j][at]; source >= 0 && !inside(k) {
				rows[source] = x(k).Minus(last).Times(noise, bits)
			}
		}
	}
	return rows, columns
}

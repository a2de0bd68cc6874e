package protocoltest

import (
	"math/big"
	"slices"

	"mafalda/graph"
	"mafalda/protocols/internal/rational"
)

// Exposure is e_jᵀPe_j in rational numbers: what is left of e_j, squared, is the quotient of two Gram
// determinants, which elimination finds as it goes.
func Exposure(g *graph.Graph, w [][]*big.Rat, observers []int, rounds, victim int) *big.Rat {
	n := g.Nodes()
	dot := func(a, b []*big.Rat) *big.Rat {
		sum := new(big.Rat)
		for i := range a {
			sum.Add(sum, new(big.Rat).Mul(a[i], b[i]))
		}
		return sum
	}
	var basis [][]*big.Rat // orthogonal
	left := func(row []*big.Rat) []*big.Rat {
		row = rational.Without(row, -1)
		for _, q := range basis {
			c := dot(q, row)
			rational.AddScaled(row, c.Neg(c.Quo(c, dot(q, q))), q)
		}
		return row
	}
	power := rational.Identity(n)
	for range rounds + 1 {
		for v := range n {
			if slices.Contains(observers, v) || !slices.ContainsFunc(observers,
				func(a int) bool { return g.Adjacency().At(a, v) != 0 }) {
				continue
			}
			row := rational.Without(power[v], -1)
			for _, a := range observers {
				row[a].SetInt64(0)
			}
			if row = left(row); dot(row, row).Sign() != 0 {
				basis = append(basis, row)
			}
		}
		power = rational.Mul(power, w)
	}
	rest := left(rational.Identity(n)[victim])
	return new(big.Rat).Sub(big.NewRat(1, 1), dot(rest, rest))
}

package ppac

import (
	"math/big"

	"mafalda/graph"
)

// Linear algebra by elimination in rational numbers, without any rounding, for the definition that View is tested
// against, on graphs of ten nodes or so.

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

// without copies a row without column j; all of it for j = -1.
func without(row []*big.Rat, j int) []*big.Rat {
	var short []*big.Rat
	for i, c := range row {
		if i != j {
			short = append(short, new(big.Rat).Set(c))
		}
	}
	return short
}

// addScaled adds c times a row to dst.
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

// identity returns the n×n matrix.
func identity(n int) [][]*big.Rat {
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

// times returns AB.
func times(a, b [][]*big.Rat) [][]*big.Rat {
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

// rationalLaplacian returns I - (D-A)/d_max in rational numbers.
func rationalLaplacian(g *graph.Graph) [][]*big.Rat {
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

// rationalMetropolis returns Metropolis weights in rational numbers.
func rationalMetropolis(g *graph.Graph) [][]*big.Rat {
	w := identity(g.Nodes())
	g.Adjacency().DoNonZero(func(i, j int, _ float64) {
		w[i][j].SetFrac64(1, int64(1+max(g.Degree(i), g.Degree(j))))
		w[i][i].Sub(w[i][i], w[i][j])
	})
	return w
}

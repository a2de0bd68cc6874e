package rational

import "math/big"

// Echelon is a row echelon form that grows row by row.
type Echelon struct {
	Rows [][]*big.Rat // a 1 in column At[i], and zeros before
	At   []int
}

// Add reduces a copy of a row by the others and reports whether something is left, which it keeps.
func (e *Echelon) Add(row []*big.Rat) bool {
	left := Without(row, -1)
	for i, r := range e.Rows {
		if c := left[e.At[i]]; c.Sign() != 0 {
			AddScaled(left, new(big.Rat).Neg(c), r)
		}
	}
	for at, c := range left {
		if c.Sign() != 0 {
			scale := new(big.Rat).Inv(c)
			for _, x := range left {
				x.Mul(x, scale)
			}
			e.Rows, e.At = append(e.Rows, left), append(e.At, at)
			return true
		}
	}
	return false
}

// Without copies a row without column j; all of it for j = -1.
func Without(row []*big.Rat, j int) []*big.Rat {
	var short []*big.Rat
	for i, c := range row {
		if i != j {
			short = append(short, new(big.Rat).Set(c))
		}
	}
	return short
}

// AddScaled adds c times a row to dst.
func AddScaled(dst []*big.Rat, c *big.Rat, row []*big.Rat) {
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

// Identity returns the n×n matrix.
func Identity(n int) [][]*big.Rat {
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

// Mul returns AB.
func Mul(a, b [][]*big.Rat) [][]*big.Rat {
	c := make([][]*big.Rat, len(a))
	for i, row := range a {
		for range b[0] {
			c[i] = append(c[i], new(big.Rat))
		}
		for k, x := range row {
			AddScaled(c[i], x, b[k])
		}
	}
	return c
}

package span

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"mafalda/internal/lists"
	"mafalda/protocols/internal/consensus"
)

// Entry is a number in a column, Value·2^-bits.
type Entry struct {
	Column int
	Value  *big.Int
}

// Vector has the entries that are not zero, in ascending order of columns.
type Vector []Entry

// Times returns the vector times a number.
func (a Vector) Times(x *big.Int, bits uint) Vector {
	return lists.Map(a, func(e Entry) Entry {
		product := new(big.Int).Mul(e.Value, x)
		return Entry{e.Column, product.Rsh(product, bits)}
	})
}

// Minus returns the difference of two vectors.
func (a Vector) Minus(b Vector) Vector {
	var all Vector
	for _, e := range b {
		for ; len(a) > 0 && a[0].Column < e.Column; a = a[1:] {
			all = append(all, a[0])
		}
		minus := new(big.Int).Neg(e.Value)
		if len(a) > 0 && a[0].Column == e.Column {
			minus.Add(minus, a[0].Value)
			a = a[1:]
		}
		all = append(all, Entry{e.Column, minus})
	}
	return append(all, a...)
}

// Basis returns a basis of the span with this many binary digits: what every hidden node has in each of its vectors. They
// are e_ℓᵀU_t(X) of the messages, with Chebyshev's polynomials of W stretched to X = (W - cI)/(1-c), c the least weight
// that a node gives itself: they span what powers do, and become parallel much later.
func (s *Span) Basis(bits uint) []Vector {
	one := new(big.Int).Lsh(big.NewInt(1), bits)
	if s.Whole {
		return lists.Make(len(s.Hidden), func(at int) Vector { return Vector{{at, one}} })
	}
	basis := make([]Vector, len(s.Hidden))
	rows, least := map[int][]*big.Int{}, 1.0 // of 2X
	for v := range s.Place {
		least = math.Min(least, s.weights.Matrix.At(v, v))
	}
	center, stretch := consensus.Fixed(least, bits), consensus.Fixed(2/(1-least), bits)
	row := func(v int) []*big.Int {
		if rows[v] == nil {
			rows[v] = s.weights.Row(v, bits)
			at := 0
			s.weights.Matrix.DoRowNonZero(v, func(_, u int, _ float64) {
				w := rows[v][at]
				if u == v {
					w.Sub(w, center)
				}
				w.Rsh(w.Mul(w, stretch), bits)
				at++
			})
		}
		return rows[v]
	}
	type chain struct{ before, now []*big.Int } // of all nodes; nil: zero
	last := map[int]chain{}
	for column, m := range s.Messages {
		c, next := last[m.From], make([]*big.Int, len(s.Place))
		if m.Round == 0 {
			next[m.From] = one
		}
		var product big.Int
		for v, x := range c.now {
			if x == nil {
				continue
			}
			at, weights := 0, row(v)
			s.weights.Matrix.DoRowNonZero(v, func(_, u int, _ float64) {
				if next[u] == nil {
					next[u] = new(big.Int)
				}
				next[u].Add(next[u], product.Mul(x, weights[at]))
				at++
			})
		}
		for v, x := range next {
			if x == nil {
				continue
			}
			if m.Round > 0 {
				x.Rsh(x, bits)
			}
			if c.before != nil && c.before[v] != nil {
				x.Sub(x, c.before[v])
			}
			if at := s.Place[v]; at >= 0 && s.touches(at) {
				basis[at] = append(basis[at], Entry{column, x})
			}
		}
		last[m.From] = chain{c.now, next}
	}
	return basis
}

// Exposure is the share of a source's variance that is explained, Seen, and what is left, Hidden = 1 - Seen, to its own
// precision. Seen is never below the truth, Hidden never above it.
type Exposure struct{ Seen, Hidden float64 }

const (
	margin   = 256     // binary digits beyond those that are lost
	far      = 150     // digits of a share that are right: margin, but for sums, growth, and what lost may be too small by
	mostBits = 1 << 15 // of numbers
)

// Explain returns how much of the variance of some sources is explained by what is known, given the sources' rows in it,
// with all columns, and their number. With rows c_j of C the share is c_jᵀ(CᵀC)⁻¹c_j, sources having variance one;
// CᵀC is factorized after Cholesky, and the norm of its inverse says how many digits are lost. It is exact for sources
// that nothing known depends on. The error wraps consensus.ErrTooLarge, or is the context's.
func Explain(ctx context.Context, sources []int, known func(bits uint) (rows []Vector, columns int)) ([]Exposure, error) {
	for bits := uint(320); bits <= mostBits; {
		rows, columns := known(bits)
		lower, lost := factorize(ctx, rows, columns, bits)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if need := (lost + margin + 63) / 64 * 64; need > bits {
			bits = need
			continue
		}
		slack, one := new(big.Int).Lsh(big.NewInt(1), 2*bits-far), new(big.Int).Lsh(big.NewInt(1), 2*bits)
		share := func(x *big.Int, mode big.RoundingMode) float64 {
			f := new(big.Float).SetPrec(53).SetMode(mode).SetInt(x)
			v, _ := f.SetMantExp(f, -2*int(bits)).Float64()
			return math.Min(math.Max(v, 0), 1)
		}
		return lists.Map(sources, func(j int) Exposure {
			if len(rows[j]) == 0 {
				return Exposure{Hidden: 1}
			}
			seen := lower.explained(rows[j], bits)
			seen.Add(seen, slack)
			return Exposure{share(seen, big.ToPositiveInf), share(new(big.Int).Sub(one, seen), big.ToNegativeInf)}
		}), ctx.Err()
	}
	return nil, fmt.Errorf("%w: what is known of %d sources takes numbers of more than %d bits", consensus.ErrTooLarge,
		len(sources), mostBits)
}

// triangle is lower triangular, row by row.
type triangle [][]*big.Int

// factorize returns L with LLᵀ = CᵀC, and how many binary digits the norm of its inverse has, which are lost; more
// than there are if CᵀC is singular as far as can be told. If the context ends it returns something else.
func factorize(ctx context.Context, rows []Vector, columns int, bits uint) (lower triangle, lost uint) {
	lower = lists.Make(columns, func(i int) []*big.Int {
		return lists.Make(i+1, func(int) *big.Int { return new(big.Int) })
	})
	var product big.Int
	for _, row := range rows {
		for a, x := range row {
			for _, y := range row[:a+1] {
				sum := lower[x.Column][y.Column]
				sum.Add(sum, product.Mul(x.Value, y.Value))
			}
		}
	}
	for i, row := range lower {
		if ctx.Err() != nil {
			return nil, 0
		}
		for j, x := range row {
			reduce(x, row[:j], lower[j])
			if j < i {
				x.Quo(x, lower[j][j])
				continue
			}
			if x.Sign() <= 0 {
				return nil, 2 * bits
			}
			x.Sqrt(x)
		}
	}
	return lower, lower.lost(bits)
}

// lost returns about how many binary digits the norm of (LLᵀ)⁻¹ has, by what it does to a vector that favours no direction.
// Pivots do not say it: rows may be close to dependent, by far, with none of them close to those before. Where rounding has
// spoilt L, the norm is about what numbers of these digits have at most.
func (l triangle) lost(bits uint) uint {
	state, x := uint64(1), make(Vector, len(l))
	for i := range x { // signs of a congruential generator
		state = state*6364136223846793005 + 1442695040888963407
		x[i] = Entry{i, new(big.Int).Lsh(big.NewInt(1-2*int64(state>>63)), bits)}
	}
	most, w := uint(0), l.solve(x, bits)
	for i := len(l) - 1; i >= 0; i-- {
		w[i].Quo(w[i].Lsh(w[i], bits), l[i][i])
		most = max(most, uint(w[i].BitLen()))
		var product big.Int
		for k, y := range l[i][:i] {
			w[k].Sub(w[k], product.Rsh(product.Mul(y, w[i]), bits))
		}
	}
	return max(most, bits) - bits
}

// reduce subtracts the products of two rows from x, as far as the first one goes.
func reduce(x *big.Int, a, b []*big.Int) {
	var product big.Int
	for k, y := range a {
		if y.Sign() != 0 && b[k].Sign() != 0 {
			x.Sub(x, product.Mul(y, b[k]))
		}
	}
}

// solve returns L⁻¹c.
func (l triangle) solve(c Vector, bits uint) []*big.Int {
	w := lists.Make(len(l), func(int) *big.Int { return new(big.Int) })
	if len(c) == 0 {
		return w
	}
	first := c[0].Column
	for _, e := range c {
		w[e.Column].Lsh(e.Value, bits)
	}
	for i, x := range w[first:] {
		row := l[first+i]
		reduce(x, w[first:first+i], row[first:])
		x.Quo(x, row[first+i])
	}
	return w
}

// explained returns ‖L⁻¹c‖² of a row, with twice as many binary digits.
func (l triangle) explained(c Vector, bits uint) *big.Int {
	sum := new(big.Int)
	for _, x := range l.solve(c, bits) {
		sum.Add(sum, new(big.Int).Mul(x, x))
	}
	return sum
}

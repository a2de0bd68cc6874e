package span

import (
	"math/big"

	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/protocols/internal/consensus"
	"mafalda/protocols/internal/doubledouble"
)

// bigs is any precision.
type bigs struct {
	w       *graph.CSR
	weights [][]*big.Float
	s       *Span
	bits    uint
	basis   [][]*big.Float
	last    map[int][]*big.Float
	from    int
	row     []*big.Float
	size    *big.Float
}

func newBigs(w *consensus.Weights, s *Span, bits uint) *bigs {
	return &bigs{w: w.Matrix, weights: lists.Make(len(s.Place), func(v int) []*big.Float { return w.Row(v, bits) }), s: s, bits: bits, last: map[int][]*big.Float{}}
}

func (b *bigs) zero() *big.Float { return new(big.Float).SetPrec(b.bits) }

func (b *bigs) zeros() []*big.Float {
	row := make([]*big.Float, len(b.s.Hidden))
	for i := range row {
		row[i] = b.zero()
	}
	return row
}

func (b *bigs) start(node int) {
	b.from, b.row = node, b.zeros()
	b.row[b.s.Place[node]].SetInt64(1)
}

func (b *bigs) step(from int) {
	b.from, b.row = from, b.zeros()
	term := b.zero()
	for at, v := range b.s.Hidden {
		x, entry := b.last[from][at], 0
		b.w.DoRowNonZero(v, func(_, u int, _ float64) {
			if to := b.s.Place[u]; to >= 0 {
				b.row[to].Add(b.row[to], term.Mul(x, b.weights[v][entry]))
			}
			entry++
		})
	}
}

func (b *bigs) newPart() float64 {
	along, term := b.zero(), b.zero()
	for _, q := range b.basis {
		along.SetInt64(0)
		for i, x := range q {
			along.Add(along, term.Mul(x, b.row[i]))
		}
		for i, x := range q {
			b.row[i].Sub(b.row[i], term.Mul(x, along))
		}
	}
	squared := b.zero()
	for _, x := range b.row {
		squared.Add(squared, term.Mul(x, x))
	}
	b.size = b.zero().Sqrt(squared)
	size, _ := b.size.Float64()
	return size
}

func (b *bigs) keep() {
	for _, x := range b.row {
		x.Quo(x, b.size)
	}
	b.basis = append(b.basis, b.row)
	b.last[b.from] = b.row
}

// doubledoubles rounds the basis to 106 bits.
func (b *bigs) doubledoubles() [][]doubledouble.Number {
	rows := make([][]doubledouble.Number, len(b.basis))
	for r, row := range b.basis {
		for _, x := range row {
			rows[r] = append(rows[r], doubledouble.Of(x))
		}
	}
	return rows
}

// doubles rounds the basis.
func (b *bigs) doubles() []float64 {
	var rows []float64
	for _, row := range b.basis {
		for _, x := range row {
			v, _ := x.Float64()
			rows = append(rows, v)
		}
	}
	return rows
}

package span

import (
	"math/big"

	"mafalda/internal/lists"
	"mafalda/protocols/internal/consensus"
)

// precise is Arnoldi's arithmetic in numbers of some kind, of more than double precision.
type precise[N any] struct {
	numbers[N]
	w       *consensus.Weights
	s       *Span
	weights map[int][]N // rows of W that have been needed
	basis   [][]N
	last    map[int][]N
	from    int
	row     []N
	size    N
}

// numbers is what rows of one kind of numbers are worked on with.
type numbers[N any] struct {
	passes  int // how often the basis has to be taken out of a row
	zeros   func(n int) []N
	of      func(x *big.Float) N
	bits    uint // of a weight
	isZero  func(x N) bool
	add     func(to *N, x, y N) // to + xy
	dot     func(a, b []N) N
	without func(row, q []N, along N) // row - along·q
	root    func(squared N) N
	divide  func(row []N, by N)
	double  func(x N) float64
	fine    func(x N) number
}

func newPrecise[N any](kind numbers[N], w *consensus.Weights, s *Span) *precise[N] {
	return &precise[N]{numbers: kind, w: w, s: s, weights: map[int][]N{}, last: map[int][]N{}}
}

// newDoubledoubles returns the arithmetic in 106 bits, some thirty times faster than arithmetic of arbitrary precision.
func newDoubledoubles(w *consensus.Weights, s *Span) *precise[number] {
	return newPrecise(numbers[number]{passes: 2, bits: 160,
		zeros:  func(n int) []number { return make([]number, n) },
		of:     ofBig,
		isZero: func(x number) bool { return x == number{} },
		add:    func(to *number, x, y number) { *to = to.Plus(x.Times(y)) },
		dot: func(a, b []number) (sum number) {
			for i, x := range a {
				sum = sum.Plus(x.Times(b[i]))
			}
			return sum
		},
		without: func(row, q []number, along number) {
			along = along.Minus()
			for i, x := range q {
				row[i] = row[i].Plus(x.Times(along))
			}
		},
		root: func(squared number) number {
			if squared.Hi > 0 {
				return squared.Root()
			}
			return number{}
		},
		divide: func(row []number, by number) {
			for i, x := range row {
				row[i] = x.Over(by)
			}
		},
		double: func(x number) float64 { return x.Hi },
		fine:   func(x number) number { return x },
	}, w, s)
}

// newBigs returns the arithmetic in so many bits.
func newBigs(w *consensus.Weights, s *Span, bits uint) *precise[*big.Float] {
	zero := func() *big.Float { return new(big.Float).SetPrec(bits) }
	term := zero() // scratch
	return newPrecise(numbers[*big.Float]{passes: 1, bits: bits,
		zeros:  func(n int) []*big.Float { return lists.Make(n, func(int) *big.Float { return zero() }) },
		of:     func(x *big.Float) *big.Float { return x },
		isZero: func(x *big.Float) bool { return x.Sign() == 0 },
		add:    func(to **big.Float, x, y *big.Float) { (*to).Add(*to, term.Mul(x, y)) },
		dot: func(a, b []*big.Float) *big.Float {
			sum := zero()
			for i, x := range a {
				sum.Add(sum, term.Mul(x, b[i]))
			}
			return sum
		},
		without: func(row, q []*big.Float, along *big.Float) {
			for i, x := range q {
				row[i].Sub(row[i], term.Mul(x, along))
			}
		},
		root: func(squared *big.Float) *big.Float { return zero().Sqrt(squared) },
		divide: func(row []*big.Float, by *big.Float) {
			for _, x := range row {
				x.Quo(x, by)
			}
		},
		double: func(x *big.Float) float64 { v, _ := x.Float64(); return v },
		fine:   ofBig,
	}, w, s)
}

func (p *precise[N]) start(node int) {
	p.from, p.row = node, p.zeros(len(p.s.Hidden))
	p.row[p.s.Place[node]] = p.of(new(big.Float).SetPrec(p.bits).SetInt64(1))
}

func (p *precise[N]) step(from int) {
	p.from, p.row = from, p.zeros(len(p.s.Hidden))
	for at, v := range p.s.Hidden {
		x, entry := p.last[from][at], 0
		if p.isZero(x) {
			continue
		}
		weights, ok := p.weights[v]
		if !ok {
			weights = lists.Map(p.w.Row(v, p.bits), p.of)
			p.weights[v] = weights
		}
		p.w.Matrix.DoRowNonZero(v, func(_, u int, _ float64) {
			if to := p.s.Place[u]; to >= 0 {
				p.add(&p.row[to], x, weights[entry])
			}
			entry++
		})
	}
}

func (p *precise[N]) newPart() float64 {
	for range p.passes {
		for _, q := range p.basis {
			p.without(p.row, q, p.dot(q, p.row))
		}
	}
	p.size = p.root(p.dot(p.row, p.row))
	return p.double(p.size)
}

func (p *precise[N]) keep() {
	p.divide(p.row, p.size)
	p.basis = append(p.basis, p.row)
	p.last[p.from] = p.row
}

// doubles rounds the basis.
func (p *precise[N]) doubles() []float64 {
	var rows []float64
	for _, row := range p.basis {
		rows = append(rows, lists.Map(row, p.double)...)
	}
	return rows
}

// doubledoubles rounds the basis to 106 bits.
func (p *precise[N]) doubledoubles() [][]number {
	return lists.Map(p.basis, func(row []N) []number { return lists.Map(row, p.fine) })
}

package span

import (
	"mafalda/internal/lists"
	"mafalda/protocols/internal/consensus"
)

// number has 106 bits.
type number = consensus.Number

// precise is Arnoldi's arithmetic in 106 bits, with reorthogonalization.
type precise struct {
	w       *consensus.Weights
	s       *Span
	weights map[int][]number // rows of W that have been needed
	basis   [][]number
	last    map[int][]number
	from    int
	row     []number
	size    number
}

func newPrecise(w *consensus.Weights, s *Span) *precise {
	return &precise{w: w, s: s, weights: map[int][]number{}, last: map[int][]number{}}
}

func (p *precise) start(node int) {
	p.from, p.row = node, make([]number, len(p.s.Hidden))
	p.row[p.s.Place[node]].Hi = 1
}

func (p *precise) step(from int) {
	p.from, p.row = from, make([]number, len(p.s.Hidden))
	for at, v := range p.s.Hidden {
		x, entry := p.last[from][at], 0
		if x == (number{}) {
			continue
		}
		weights, ok := p.weights[v]
		if !ok {
			weights = p.w.Row(v)
			p.weights[v] = weights
		}
		p.w.Matrix.DoRowNonZero(v, func(_, u int, _ float64) {
			if to := p.s.Place[u]; to >= 0 {
				p.row[to] = p.row[to].Plus(x.Times(weights[entry]))
			}
			entry++
		})
	}
}

func (p *precise) newPart() float64 {
	for range 2 {
		for _, q := range p.basis {
			takeOut(p.row, q)
		}
	}
	p.size = dot(p.row, p.row)
	if p.size.Hi > 0 {
		p.size = p.size.Root()
	}
	return p.size.Hi
}

func (p *precise) keep() {
	for i, x := range p.row {
		p.row[i] = x.Over(p.size)
	}
	p.basis = append(p.basis, p.row)
	p.last[p.from] = p.row
}

// doubles returns the basis, rounded to float64.
func (p *precise) doubles() []float64 {
	var rows []float64
	for _, row := range p.basis {
		rows = append(rows, lists.Map(row, func(x number) float64 { return x.Hi })...)
	}
	return rows
}

func dot(a, b []number) (sum number) {
	for i, x := range a {
		sum = sum.Plus(x.Times(b[i]))
	}
	return sum
}

// takeOut subtracts from a row its projection on q, of length 1, and returns its length along q.
func takeOut(row, q []number) (along number) {
	along = dot(q, row)
	back := along.Minus()
	for i, x := range q {
		row[i] = row[i].Plus(x.Times(back))
	}
	return along
}

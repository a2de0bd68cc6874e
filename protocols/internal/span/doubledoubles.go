package span

import (
	"mafalda/graph"
	"mafalda/protocols/internal/consensus"
	"mafalda/protocols/internal/doubledouble"
)

// doubledoubles is Arnoldi's arithmetic in 106 bits, some thirty times faster than arithmetic of arbitrary precision.
type doubledoubles struct {
	w       *graph.CSR
	exact   *consensus.Weights
	weights map[int][]doubledouble.Number // of the rows that have been needed
	s       *Span
	basis   [][]doubledouble.Number
	last    map[int][]doubledouble.Number
	from    int
	row     []doubledouble.Number
	size    doubledouble.Number
}

func newDoubledoubles(w *consensus.Weights, s *Span) *doubledoubles {
	return &doubledoubles{w: w.Matrix, exact: w, weights: map[int][]doubledouble.Number{}, s: s,
		last: map[int][]doubledouble.Number{}}
}

// weightsOf returns a row of W.
func (t *doubledoubles) weightsOf(v int) []doubledouble.Number {
	row, ok := t.weights[v]
	if !ok {
		for _, x := range t.exact.Row(v, 160) {
			row = append(row, doubledouble.Of(x))
		}
		t.weights[v] = row
	}
	return row
}

func (t *doubledoubles) start(node int) {
	t.from, t.row = node, make([]doubledouble.Number, len(t.s.Hidden))
	t.row[t.s.Place[node]].Hi = 1
}

func (t *doubledoubles) step(from int) {
	t.from, t.row = from, make([]doubledouble.Number, len(t.s.Hidden))
	for at, v := range t.s.Hidden {
		x, entry := t.last[from][at], 0
		if x == (doubledouble.Number{}) {
			continue
		}
		weights := t.weightsOf(v)
		t.w.DoRowNonZero(v, func(_, u int, _ float64) {
			if to := t.s.Place[u]; to >= 0 {
				t.row[to] = t.row[to].Plus(x.Times(weights[entry]))
			}
			entry++
		})
	}
}

func (t *doubledoubles) newPart() float64 {
	for range 2 {
		for _, q := range t.basis {
			var along doubledouble.Number
			for i, x := range q {
				along = along.Plus(x.Times(t.row[i]))
			}
			along = along.Minus()
			for i, x := range q {
				t.row[i] = t.row[i].Plus(x.Times(along))
			}
		}
	}
	var squared doubledouble.Number
	for _, x := range t.row {
		squared = squared.Plus(x.Times(x))
	}
	t.size = doubledouble.Number{}
	if squared.Hi > 0 {
		t.size = squared.Root()
	}
	return t.size.Hi
}

func (t *doubledoubles) keep() {
	for i, x := range t.row {
		t.row[i] = x.Over(t.size)
	}
	t.basis = append(t.basis, t.row)
	t.last[t.from] = t.row
}

// doubles rounds the basis.
func (t *doubledoubles) doubles() []float64 {
	var rows []float64
	for _, row := range t.basis {
		for _, x := range row {
			rows = append(rows, x.Hi)
		}
	}
	return rows
}

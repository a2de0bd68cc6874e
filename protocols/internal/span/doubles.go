package span

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"mafalda/graph"
	"mafalda/protocols/internal/consensus"
)

// doubles is double precision, with reorthogonalization.
type doubles struct {
	w     *graph.CSR
	s     *Span
	basis []float64
	rank  int
	last  map[int][]float64
	from  int
	row   []float64
	size  float64
}

func newDoubles(w *consensus.Weights, s *Span) *doubles {
	return &doubles{w: w.Matrix, s: s, last: map[int][]float64{}}
}

func (d *doubles) start(node int) {
	d.from, d.row = node, make([]float64, len(d.s.Hidden))
	d.row[d.s.Place[node]] = 1
}

func (d *doubles) step(from int) {
	whole, next := make([]float64, len(d.s.Place)), make([]float64, len(d.s.Place))
	for at, v := range d.s.Hidden {
		whole[v] = d.last[from][at]
	}
	d.w.MulVecTo(next, true, whole)
	d.from, d.row = from, make([]float64, len(d.s.Hidden))
	for at, v := range d.s.Hidden {
		d.row[at] = next[v]
	}
}

func (d *doubles) newPart() float64 {
	if d.rank > 0 {
		q := blas64.General{Rows: d.rank, Cols: len(d.row), Stride: len(d.row), Data: d.basis}
		along := vector(make([]float64, d.rank))
		for range 2 {
			blas64.Gemv(blas.NoTrans, 1, q, vector(d.row), 0, along)
			blas64.Gemv(blas.Trans, -1, q, along, 1, vector(d.row))
		}
	}
	d.size = blas64.Nrm2(vector(d.row))
	return d.size
}

func (d *doubles) keep() {
	blas64.Scal(1/d.size, vector(d.row))
	d.basis = append(d.basis, d.row...)
	d.last[d.from] = d.row
	d.rank++
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

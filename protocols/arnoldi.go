package protocols

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"mafalda/graph"
)

// Powers of W lose all digits after a few rounds, because their rows become parallel. But a chain may go on from any vector that differs
// from its row by earlier ones: q ← the new part of qᵀW, scaled to length 1. Rounding is amplified all the same, on trees of eighty
// nodes until nothing is right, without any small number on the way. It shows where the chains end: there the new part must be zero.
// So a basis counts only if all chains end with nothing but rounding and no new part was small; otherwise it is made again in more
// precision.
const (
	doubleEnd    = 1e-12 // the largest new part where a chain ends, and the smallest where it does not, in double precision
	doubleLeast  = 1e-4
	twofoldEnd   = 1e-16 // the same with 106 bits
	twofoldLeast = 1e-10
	twofoldWork  = 2e9   // rank²·nodes: some ten seconds
	fineWork     = 2.5e5 // the same, for what is so cheap in 106 bits that less is not tried
	bigWork      = 3e7   // rank²·nodes·precision/256
	mostBits     = 2048
)

// orthonormal is an orthonormal basis, row by row, and how far its entries may be from the true span's.
type orthonormal struct {
	rows           []float64
	fine           [][]twofold // the same in 106 bits, or nil
	blur, fineBlur float64
}

// spread is how many times further from the truth than what is left where chains end a basis is taken to be.
const spread = 64

// newOrthonormal says how far a basis of this rank may be off, that was made with this unit roundoff.
func newOrthonormal(rows []float64, fine [][]twofold, rank int, end, unit float64) *orthonormal {
	blur := spread * math.Max(end, float64(rank)*unit)
	return &orthonormal{rows: rows, fine: fine, blur: blur + 0x1p-53, fineBlur: blur}
}

// arnoldi returns a basis of the messages' rows on the hidden nodes: nil if that would take too much precision. all is
// the informative sequence up to the horizon, which is for ever if that is within reach.
func arnoldi(ctx context.Context, w *weights, s *span, senders []int, all []Message, horizon int) (*orthonormal,
	error) {
	isNew := make(map[Message]bool, len(all))
	for _, m := range all {
		isNew[m] = true
	}
	work := float64(len(all)) * float64(len(all)) * float64(len(s.hidden))
	quick := &doubles{w: w.w, s: s, last: map[int][]float64{}}
	if horizon != Forever {
		return compared(ctx, w, quick, senders, isNew, horizon)
	}
	if work > fineWork {
		end, least, err := chains(ctx, quick, senders, isNew, horizon)
		if err != nil {
			return nil, err
		}
		if end <= doubleEnd && least >= doubleLeast {
			return newOrthonormal(quick.basis, nil, len(all), end, 0x1p-53), nil
		}
	}
	if work <= twofoldWork {
		twice := newTwofolds(w, s)
		end, least, err := chains(ctx, twice, senders, isNew, horizon)
		if err != nil {
			return nil, err
		}
		if end <= twofoldEnd && least >= twofoldLeast {
			return newOrthonormal(twice.doubles(), twice.basis, len(all), end, 0x1p-100), nil
		}
	}
	for bits := uint(256); bits <= mostBits && work*float64(bits)/256 <= bigWork; bits *= 2 {
		long := newBigs(w, s, bits)
		end, least, err := chains(ctx, long, senders, isNew, horizon)
		if err != nil {
			return nil, err
		}
		if end <= math.Ldexp(1, -int(bits)/2) && least >= math.Ldexp(1, -int(bits)/4) {
			return newOrthonormal(long.doubles(), long.twofolds(), len(all), end, 0x1p-100), nil
		}
	}
	return nil, nil
}

// compared makes a basis where chains do not end within reach: how far it is off is what double precision loses against
// 106 bits.
func compared(ctx context.Context, w *weights, quick *doubles, senders []int, isNew map[Message]bool,
	horizon int) (*orthonormal, error) {
	twice := newTwofolds(w, quick.s)
	for _, a := range []arithmetic{quick, twice} {
		if _, _, err := chains(ctx, a, senders, isNew, horizon); err != nil {
			return nil, err
		}
	}
	rows, lost := twice.doubles(), 0.0
	for i := range min(len(rows), len(quick.basis)) {
		lost = math.Max(lost, math.Abs(rows[i]-quick.basis[i]))
	}
	if lost > 1e-3 || len(rows) != len(quick.basis) {
		return nil, fmt.Errorf("%w: following what is seen takes more than 106 bits", ErrTooLarge)
	}
	return newOrthonormal(rows, nil, len(isNew), lost*0x1p-47, 0x1p-100), nil
}

// arithmetic makes a basis.
type arithmetic interface {
	start(node int) // of the chain of a node: e_node
	step(from int)  // the vector of the chain times W
	// newPart takes the basis out of the vector of the last start or step and returns the length of what is left, of 1.
	newPart() float64
	// keep scales what is left to length 1, and puts it into the basis and at the end of its chain.
	keep()
}

// chains builds a basis up to a round. It returns the largest new part where a chain ends, and the smallest where one
// goes on.
func chains(ctx context.Context, a arithmetic, senders []int, isNew map[Message]bool, horizon int) (end, least float64,
	err error) {
	least = 1
	for t := 0; t <= horizon && len(senders) > 0; t++ {
		var left []int
		for _, from := range senders {
			if ctx.Err() != nil {
				return 0, 0, context.Cause(ctx)
			}
			if t == 0 {
				a.start(from)
			} else {
				a.step(from)
			}
			size := a.newPart()
			if !isNew[Message{from, t}] {
				end = math.Max(end, size)
				continue
			}
			least = math.Min(least, size)
			if size == 0 {
				return 1, 0, nil
			}
			a.keep()
			left = append(left, from)
		}
		senders = left
	}
	return end, least, nil
}

// doubles is double precision, with reorthogonalization.
type doubles struct {
	w     *graph.CSR
	s     *span
	basis []float64
	rank  int
	last  map[int][]float64
	from  int
	row   []float64
	size  float64
}

func (d *doubles) start(node int) {
	d.from, d.row = node, make([]float64, len(d.s.hidden))
	d.row[d.s.place[node]] = 1
}

func (d *doubles) step(from int) {
	whole, next := make([]float64, len(d.s.place)), make([]float64, len(d.s.place))
	for at, v := range d.s.hidden {
		whole[v] = d.last[from][at]
	}
	d.w.MulVecTo(next, true, whole)
	d.from, d.row = from, make([]float64, len(d.s.hidden))
	for at, v := range d.s.hidden {
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

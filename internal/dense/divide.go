package dense

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"mafalda/internal/gemm"
	"mafalda/internal/parallel"
)

// halves diagonalizes a symmetric tridiagonal matrix T by halves (Cuppen 1981, with Gu & Eisenstat's vectors, 1995):
// without the number ρ that couples them, T is two blocks and a matrix of rank one,
//
//	T = diag(T₁, T₂) + |ρ| zzᵀ,    z = e_last ± e_first,
//
// so that in the eigenvectors of the blocks it is D + |ρ| zzᵀ, whose eigenvalues are the roots of a secular equation.
// Nearly all of the work are products of matrices, and most columns need none (deflation).
type halves struct {
	n    int
	d, e []float64
	q    []float64 // eigenvectors, n×n, a row each: blocks on the diagonal until they are merged
	rows []float64 // n×n of scratch: copies of rows of q
	mix  []float64 // n×n of scratch: the eigenvectors of D + |ρ| zzᵀ, a row each
}

const (
	ulp      = 0x1p-53
	leafRows = 48 // that QR diagonalizes as they are
)

// diagonalizeByHalves replaces d by the eigenvalues of the tridiagonal matrix of d and e, in no order, and writes its
// eigenvectors to q, a row each. rows and mix are scratch of n×n, and e is overwritten. Not ok if QR does not end.
func diagonalizeByHalves(d, e, q, rows, mix []float64) (ok bool) {
	most := largest(d, e)
	clear(q)
	if most == 0 {
		for i := range d {
			q[i*len(d)+i] = 1
		}
		return true
	}
	_, power := math.Frexp(most)
	move := func(v []float64, by int) {
		for i := range v {
			v[i] = math.Ldexp(v[i], by)
		}
	}
	move(d, -power)
	move(e, -power)
	h := &halves{n: len(d), d: d, e: e, q: q, rows: rows, mix: mix}
	ok = h.solve(0, len(d))
	move(d, power)
	return ok
}

func (h *halves) solve(from, to int) (ok bool) {
	if to-from <= leafRows {
		return h.leaf(from, to)
	}
	mid := (from + to) / 2
	coupling := h.e[mid-1]
	h.d[mid-1] -= math.Abs(coupling)
	h.d[mid] -= math.Abs(coupling)
	var solved [2]bool
	parallel.For(2, func(i int) {
		if i == 0 {
			solved[0] = h.solve(from, mid)
		} else {
			solved[1] = h.solve(mid, to)
		}
	})
	if !solved[0] || !solved[1] {
		return false
	}
	h.merge(from, mid, to, coupling)
	return true
}

// leaf diagonalizes a small block by QR.
func (h *halves) leaf(from, to int) (ok bool) {
	size := to - from
	q := make([]float64, size*size)
	for i := range size {
		q[i*size+i] = 1
	}
	sweeps, ok := iterate(h.d[from:to], h.e[from:to-1], chaseSymmetric)
	gemm.Rotate(q, size, sweeps)
	for i := range size {
		copy(h.row(from + i)[from:to], q[i*size:(i+1)*size])
	}
	return ok
}

func (h *halves) row(i int) []float64 { return h.q[i*h.n : (i+1)*h.n] }

// side says in which half's columns a row of q has numbers.
type side int

const (
	first side = iota
	both
	second
)

// pole is an eigenvalue of a half, with the number of z at its eigenvector and its row in q.
type pole struct {
	d, z float64
	row  int
	side side
}

// merge diagonalizes the rows from to to, of which the two halves that meet at mid are diagonalized.
func (h *halves) merge(from, mid, to int, coupling float64) {
	poles := make([]pole, to-from)
	for i := range poles {
		p := pole{d: h.d[from+i], row: from + i}
		switch row := h.row(p.row); {
		case p.row < mid:
			p.z = row[mid-1] / math.Sqrt2
		case coupling < 0:
			p.z, p.side = -row[mid]/math.Sqrt2, second
		default:
			p.z, p.side = row[mid]/math.Sqrt2, second
		}
		poles[i] = p
	}
	slices.SortFunc(poles, func(a, b pole) int { return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.row, b.row)) })
	moved, still := h.deflate(poles, 2*math.Abs(coupling), from, to)
	s := newSecular(moved, 2*math.Abs(coupling), h.mix[from*h.n:])
	s.vectors()
	h.replace(s, still, from, mid, to)
}

// deflate returns the poles that z moves, and those that it leaves where they are, since its number there is too small
// or can be rotated to another pole that is as good as equal. Poles stay in their order.
func (h *halves) deflate(poles []pole, rho float64, from, to int) (moved, still []pole) {
	small := rho
	for _, p := range poles {
		small = math.Max(small, math.Abs(p.d))
	}
	small *= 8 * ulp
	for _, p := range poles {
		if rho*math.Abs(p.z) <= small {
			still = append(still, p)
			continue
		}
		if len(moved) > 0 {
			last := &moved[len(moved)-1]
			size := math.Hypot(last.z, p.z)
			c, s := p.z/size, last.z/size
			if math.Abs((p.d-last.d)*c*s) <= small {
				x, y := h.row(last.row)[from:to], h.row(p.row)[from:to]
				for i, v := range x {
					x[i], y[i] = c*v-s*y[i], s*v+c*y[i]
				}
				if last.side != p.side {
					last.side, p.side = both, both
				}
				last.d, p.d = last.d*c*c+p.d*s*s, last.d*s*s+p.d*c*c
				p.z = size
				still = append(still, *last)
				*last = p
				continue
			}
		}
		moved = append(moved, p)
	}
	return moved, still
}

// replace writes the new rows of q and their eigenvalues, and then the rows that z did not move.
func (h *halves) replace(s *secular, still []pole, from, mid, to int) {
	n, count, room := h.n, len(s.poles), h.rows[from*h.n:]
	upper, lower := 0, 0 // rows with numbers in the columns of the first and of the second half
	for _, p := range s.poles {
		if p.side != second {
			upper++
		}
		if p.side != first {
			lower++
		}
	}
	take := func(rows, left, right int, source func(i int) int) blas64.General {
		g := blas64.General{Rows: rows, Cols: right - left, Stride: max(right-left, 1), Data: room[:rows*(right-left)]}
		room = room[rows*(right-left):]
		parallel.For(rows, func(i int) { copy(g.Data[i*g.Stride:], h.row(source(i))[left:right]) })
		return g
	}
	moved := func(i int) int { return s.poles[s.order[i]].row }
	left := take(upper, from, mid, moved)
	right := take(lower, mid, to, func(i int) int { return moved(count - lower + i) })
	rest := take(len(still), from, to, func(i int) int { return still[i].row })
	multiply := func(skip int, rows blas64.General, column int) {
		if count == 0 {
			return
		}
		new := blas64.General{Rows: count, Cols: rows.Cols, Stride: n, Data: h.q[from*n+column:]}
		mix := blas64.General{Rows: count, Cols: rows.Rows, Stride: count, Data: s.rows[skip:]}
		gemm.Gemm(blas.NoTrans, blas.NoTrans, 1, mix, rows, 0, new)
	}
	multiply(0, left, from)
	multiply(count-lower, right, mid)
	copy(h.d[from:], s.values)
	for i, p := range still {
		h.d[from+count+i] = p.d
		copy(h.row(from + count + i)[from:to], rest.Data[i*rest.Stride:(i+1)*rest.Stride])
	}
}

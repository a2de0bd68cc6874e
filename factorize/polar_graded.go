package factorize

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/internal/lists"
)

const (
	levelGrade = 1e-4  // of a d_i, relative to the largest of its level, to belong to it
	leastGrade = 1e-13 // of a d_i, relative to the largest of all, to be more than rounding
)

// grade turns the rows N v_i of W into the w_i of a graded N. The squares in NᵀN hide what is less than the root of an
// ulp of the largest d_i, but vectors whose d_i are not small beside it are right to 1e-12: these are a level. The
// other N v_i, less their shares of the level's w_i, are a matrix without the large numbers, to which turn does the
// same again. The v_i are sorted by their d_i then, and as orthogonal as before. It is not ok if numbers are out of
// range.
func (p *polar) grade() (ok bool) {
	p.sort(0)
	largest := p.d[0]
	for from := 0; from < p.steps; {
		if !(p.d[from] > leastGrade*largest) {
			clear(p.w[from*p.steps:])
			return true
		}
		to := from + 1
		for to < p.steps && p.d[to] > levelGrade*p.d[from] {
			to++
		}
		p.normalize(from, to)
		from = to
		if from < p.steps && !p.turn(from) {
			return false
		}
	}
	return true
}

// turn takes the rows of W from some row on to what the rows before them, which are orthonormal, leave of them, and
// turns these rows of W and V to the singular vectors of that.
func (p *polar) turn(from int) (ok bool) {
	left := p.steps - from
	a, b, c, e := p.scratch.take(), p.scratch.take(), p.scratch.take(), p.scratch.take()
	defer p.scratch.giveBack(a, b, c, e)
	matrix := func(rows, columns int, data []float64) blas64.General {
		return blas64.General{Rows: rows, Cols: columns, Stride: columns, Data: data}
	}
	known, rest := matrix(from, p.steps, p.w), matrix(left, p.steps, p.w[from*p.steps:])
	shares, gram, turned := matrix(left, from, a), matrix(left, left, a), matrix(left, p.steps, a)
	gemm.Gemm(blas.NoTrans, blas.Trans, 1, rest, known, 0, shares)
	gemm.Gemm(blas.NoTrans, blas.NoTrans, -1, shares, known, 1, rest)
	gemm.Gemm(blas.NoTrans, blas.Trans, 1, rest, rest, 0, gram)
	if _, ok := dense.Eigen(b, a, [2][]float64{c, e}, left); !ok {
		return false
	}
	for _, m := range []blas64.General{rest, matrix(left, p.steps, p.v[from*p.steps:])} {
		gemm.Gemm(blas.NoTrans, blas.NoTrans, 1, matrix(left, left, b), m, 0, turned)
		copy(m.Data, a)
	}
	p.measure(from)
	p.sort(from)
	return true
}

// sort puts the rows of W and V from some row on in the order of their d_i, largest first.
func (p *polar) sort(from int) {
	order := lists.UpTo(p.steps - from)
	d := slices.Clone(p.d[from:])
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(d[j], d[i]) })
	sorted := p.scratch.take()
	defer p.scratch.giveBack(sorted)
	for _, m := range [][]float64{p.w[from*p.steps:], p.v[from*p.steps:]} {
		for to, i := range order {
			copy(p.row(sorted, to), p.row(m, i))
		}
		copy(m, sorted)
	}
	for to, i := range order {
		p.d[from+to] = d[i]
	}
}

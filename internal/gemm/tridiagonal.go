package gemm

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"mafalda/internal/parallel"
)

// Tridiagonalize reduces a symmetric n×n matrix, of which the upper triangle is used, to QᵀAQ with the diagonal d and e
// above it (Householder; by panels as LAPACK's dsytrd: Dongarra, Sorensen & Hammarling 1989). It leaves the reflectors
// of Q above the diagonal of a, and beside it in tau, for Reflected. Every panel's vectors take one pass over the upper
// triangle, by all processors, which bounds the speed; the other half of the work are products.
func Tridiagonalize(a []float64, n int) (d, e, tau []float64) {
	check(n, n, a, n)
	d, e, tau = make([]float64, n), make([]float64, max(n-1, 0)), make([]float64, n)
	p := &tridiagonalPanel{n: n, vw: make([]float64, 2*reflected*n), wv: make([]float64, 2*reflected*n),
		partial: make([]float64, (n+strip-1)/strip*n)}
	for from := 0; from < n; from += reflected {
		p.reduce(a, from, min(from+reflected, n), d, e, tau)
		p.update(a, min(from+reflected, n))
	}
	return d, e, tau
}

// tridiagonalPanel has the reflectors v of a panel, and the w with which A - VWᵀ - WVᵀ is the matrix after them, a row
// each: V and then W in vw, W and then V in wv.
type tridiagonalPanel struct {
	n, width int
	vw, wv   []float64
	partial  []float64 // partial sums of a product with A, for every strip of rows
}

// strip is how many rows of A a goroutine multiplies with at a time.
const strip = 128

func (p *tridiagonalPanel) v(i int) []float64 { return p.vw[i*p.n : (i+1)*p.n] }
func (p *tridiagonalPanel) w(i int) []float64 { return p.wv[i*p.n : (i+1)*p.n] }

// reduce makes the reflectors of one panel, the columns from, ..., to-1 of A. It writes them to a, above the diagonal, and the
// numbers of these columns to d, e and tau; the panel keeps v and w of every reflector for update.
func (p *tridiagonalPanel) reduce(a []float64, from, to int, d, e, tau []float64) {
	n := p.n
	p.width = to - from
	for i := range p.width {
		j := from + i
		row := a[j*n : (j+1)*n]
		for l := range i {
			floats.AddScaled(row[j:], -p.v(l)[j], p.w(l)[j:])
			floats.AddScaled(row[j:], -p.w(l)[j], p.v(l)[j:])
		}
		d[j] = row[j]
		v, w := p.v(i), p.w(i)
		clear(v)
		clear(w)
		if j == n-1 {
			continue
		}
		tau[j] = reflector(row[j+1:])
		e[j] = row[j+1]
		copy(v[j+1:], row[j+1:])
		v[j+1] = 1
		p.multiply(w, a, v, j+1)
		for l := range i {
			floats.AddScaled(w[j+1:], -floats.Dot(p.w(l)[j+1:], v[j+1:]), p.v(l)[j+1:])
			floats.AddScaled(w[j+1:], -floats.Dot(p.v(l)[j+1:], v[j+1:]), p.w(l)[j+1:])
		}
		floats.Scale(tau[j], w[j+1:])
		floats.AddScaled(w[j+1:], -tau[j]/2*floats.Dot(w[j+1:], v[j+1:]), v[j+1:])
	}
}

// reflector makes the Householder vector of x in its place, without its first number, 1, whose place has what remains
// of x. It returns τ.
func reflector(x []float64) (tau float64) {
	norm := floats.Norm(x[1:], 2)
	if norm == 0 {
		return 0
	}
	beta := -math.Copysign(math.Hypot(x[0], norm), x[0])
	tau = (beta - x[0]) / beta
	floats.Scale(1/(x[0]-beta), x[1:])
	x[0] = beta
	return tau
}

// multiply sets w to Av for the rows and columns of A from on. The strips do not depend on the number of processors.
func (p *tridiagonalPanel) multiply(w, a, v []float64, from int) {
	n, first := p.n, from/strip
	parallel.For((n+strip-1)/strip-first, func(i int) {
		i += first
		sum := p.partial[i*n : (i+1)*n]
		start := max(from, i*strip)
		clear(sum[start:])
		for r := start; r < min((i+1)*strip, n); r++ {
			row := a[r*n+r : (r+1)*n]
			sum[r] += floats.Dot(row, v[r:])
			floats.AddScaled(sum[r+1:], v[r], row[1:])
		}
	})
	for i := first; i*strip < n; i++ {
		start := max(from, i*strip)
		floats.Add(w[start:], p.partial[i*n+start:(i+1)*n])
	}
}

// update subtracts VWᵀ + WVᵀ from the upper triangle of A from the given row on.
func (p *tridiagonalPanel) update(a []float64, from int) {
	n := p.n
	if from >= n {
		return
	}
	for i := range p.width {
		copy(p.vw[(p.width+i)*n:(p.width+i+1)*n], p.w(i))
	}
	for i := range p.width {
		copy(p.wv[(p.width+i)*n:(p.width+i+1)*n], p.v(i))
	}
	for start := from; start < n; start += strip {
		rows := min(strip, n-start)
		block := func(m []float64, cols int) blas64.General {
			return blas64.General{Rows: 2 * p.width, Cols: cols, Stride: n, Data: m[start:]}
		}
		Gemm(blas.Trans, blas.NoTrans, -1, block(p.vw, rows), block(p.wv, n-start), 1,
			blas64.General{Rows: rows, Cols: n - start, Stride: n, Data: a[start*n+start:]})
	}
}

package reaction

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"mafalda/internal/gemm"
)

// operator is a fixed matrix of a step. Networks and rules have few entries a row, so products with it go entry by
// entry unless it is full.
type operator struct {
	rows, cols int
	start      []int // where each row begins in at and value
	at         []int
	value      []float64
	full       blas64.General // the matrix itself if it has many entries, else without Data
}

// denseShare is the share of entries from which on a product of dense matrices is faster.
const denseShare = 0.1

func newOperator(rows, cols int, data []float64) *operator {
	o := &operator{rows: rows, cols: cols, start: make([]int, 1, rows+1)}
	for i := range rows {
		for j, v := range data[i*cols : (i+1)*cols] {
			if v != 0 {
				o.at, o.value = append(o.at, j), append(o.value, v)
			}
		}
		o.start = append(o.start, len(o.at))
	}
	if float64(len(o.at)) > denseShare*float64(rows*cols) && rows*cols > 256 {
		o.full = general(rows, cols, data)
	}
	return o
}

// general returns data as a matrix.
func general(rows, cols int, data []float64) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(1, cols), Data: data}
}

// empty reports whether the matrix is zero.
func (o *operator) empty() bool { return len(o.at) == 0 }

// each calls f for the entries of row i.
func (o *operator) each(i int, f func(j int, v float64)) {
	for k := o.start[i]; k < o.start[i+1]; k++ {
		f(o.at[k], o.value[k])
	}
}

// times returns O·x for a matrix x of cols rows and width columns.
func (o *operator) times(x []float64, width int) []float64 {
	switch {
	case width == 1:
		dst := borrow(o.rows)
		for i := range o.rows {
			sum, values := 0.0, o.value[o.start[i]:o.start[i+1]]
			for k, j := range o.at[o.start[i]:o.start[i+1]] {
				sum += values[k] * x[j]
			}
			dst[i] = sum
		}
		return dst
	case o.full.Data != nil:
		dst := borrow(o.rows * width)
		gemm.Gemm(blas.NoTrans, blas.NoTrans, 1, o.full, general(o.cols, width, x), 0, general(o.rows, width, dst))
		return dst
	}
	dst := borrowZeros(o.rows * width)
	for i := range o.rows {
		row := dst[i*width : (i+1)*width]
		for k := o.start[i]; k < o.start[i+1]; k++ {
			add(row, o.value[k], x[o.at[k]*width:][:width])
		}
	}
	return dst
}

// transposeTimes returns Oᵀ·x for a matrix x of rows rows and width columns.
func (o *operator) transposeTimes(x []float64, width int) []float64 {
	if o.full.Data != nil && width > 1 {
		dst := borrow(o.cols * width)
		gemm.Gemm(blas.Trans, blas.NoTrans, 1, o.full, general(o.rows, width, x), 0, general(o.cols, width, dst))
		return dst
	}
	dst := borrowZeros(o.cols * width)
	if width == 1 {
		for i, from := range x[:o.rows] {
			values := o.value[o.start[i]:o.start[i+1]]
			for k, j := range o.at[o.start[i]:o.start[i+1]] {
				dst[j] += values[k] * from
			}
		}
		return dst
	}
	for i := range o.rows {
		row := x[i*width : (i+1)*width]
		for k := o.start[i]; k < o.start[i+1]; k++ {
			add(dst[o.at[k]*width:][:width], o.value[k], row)
		}
	}
	return dst
}

// congruence returns OᵀPO, both halves of it, for a symmetric P.
func (o *operator) congruence(p []float64) []float64 {
	half := borrow(o.rows * o.cols) // PO, rows×cols
	if o.full.Data != nil {
		gemm.Gemm(blas.NoTrans, blas.NoTrans, 1, general(o.rows, o.rows, p), o.full, 0, general(o.rows, o.cols, half))
	} else {
		across := o.transposeTimes(p, o.rows)
		transposeTo(half, across, o.cols, o.rows)
		release(across)
	}
	whole := o.transposeTimes(half, o.cols)
	release(half)
	symmetrize(whole, o.cols)
	return whole
}

// add adds a·x to y.
func add(y []float64, a float64, x []float64) { floats.AddScaled(y, a, x) }

func dot(x, y []float64) float64 { return floats.Dot(x, y) }

// transposeTo writes the transpose of x, rows×cols, to dst.
func transposeTo(dst, x []float64, rows, cols int) {
	for i := range rows {
		for j, v := range x[i*cols : (i+1)*cols] {
			dst[j*rows+i] = v
		}
	}
}

// symmetrize replaces a by (a + aᵀ)/2.
func symmetrize(a []float64, n int) {
	for i := range n {
		for j := range i {
			mean := (a[i*n+j] + a[j*n+i]) / 2
			a[i*n+j], a[j*n+i] = mean, mean
		}
	}
}

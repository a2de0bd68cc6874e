package graph

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/parallel"
)

// CSR is a sparse matrix in compressed row storage:
//
//	row i holds the columns indices[indptr[i]:indptr[i+1]], ascending and distinct,
//	with the values data[indptr[i]:indptr[i+1]]
//
// Columns are numbers of 32 bits: products are bound by memory. Its method names follow github.com/james-bowman/sparse, so
// that the type can be replaced by that library's. A CSR is immutable once built; it may be read from many goroutines.
type CSR struct {
	rows, cols int
	indptr     []int
	indices    []int32
	data       []float64
}

var _ mat.Matrix = (*CSR)(nil)

// NewCSR makes an r×c matrix of the three slices of the layout above. indptr and data are kept, not copied. It panics if
// they do not describe an r×c matrix: that is a mistake of the program, not of its input.
func NewCSR(r, c int, indptr, indices []int, data []float64) *CSR {
	narrow := make([]int32, len(indices))
	for p, j := range indices {
		narrow[p] = int32(min(max(j, -1), math.MaxInt32))
	}
	return newCSR(r, c, indptr, narrow, data)
}

// newCSR is NewCSR for columns of 32 bits, which are kept, too.
func newCSR(r, c int, indptr []int, indices []int32, data []float64) *CSR {
	m := &CSR{rows: r, cols: c, indptr: indptr, indices: indices, data: data}
	if len(indices) != len(data) {
		panic(fmt.Sprintf("graph: NewCSR: %d indices and %d values", len(indices), len(data)))
	}
	m.check()
	return m
}

// check panics unless the slices are of the layout above.
func (m *CSR) check() {
	r, c, indptr := m.rows, m.cols, m.indptr
	if r < 0 || c < 0 || c > math.MaxInt32 || len(indptr) != r+1 || indptr[0] != 0 || indptr[r] != len(m.indices) {
		panic(fmt.Sprintf("graph: NewCSR: %d row pointers and %d indices are not a %d×%d matrix", len(indptr),
			len(m.indices), r, c))
	}
	for i := range r {
		if indptr[i] > indptr[i+1] {
			panic(fmt.Sprintf("graph: NewCSR: row pointers decrease at row %d", i))
		}
		last := int32(-1)
		for _, j := range m.indices[indptr[i]:indptr[i+1]] {
			if j <= last || int(j) >= c {
				panic(fmt.Sprintf("graph: NewCSR: columns of row %d are not ascending within %d columns", i, c))
			}
			last = j
		}
	}
}

// NewCSRFromDense keeps the nonzero entries of m.
func NewCSRFromDense(m mat.Matrix) *CSR {
	r, c := m.Dims()
	indptr := make([]int, 1, r+1)
	var indices []int32
	var data []float64
	for i := range r {
		for j := range c {
			if v := m.At(i, j); v != 0 {
				indices = append(indices, int32(j))
				data = append(data, v)
			}
		}
		indptr = append(indptr, len(indices))
	}
	return newCSR(r, c, indptr, indices, data)
}

// Dims returns the number of rows and columns.
func (m *CSR) Dims() (r, c int) { return m.rows, m.cols }

// At returns the entry (i, j). It costs a binary search in row i.
func (m *CSR) At(i, j int) float64 {
	if i < 0 || i >= m.rows || j < 0 || j >= m.cols {
		panic(mat.ErrIndexOutOfRange)
	}
	lo := m.indptr[i]
	if p, ok := slices.BinarySearch(m.indices[lo:m.indptr[i+1]], int32(j)); ok {
		return m.data[lo+p]
	}
	return 0
}

// T returns the transpose as a view.
func (m *CSR) T() mat.Matrix { return mat.Transpose{Matrix: m} }

// NNZ returns the number of stored entries.
func (m *CSR) NNZ() int { return len(m.indices) }

// RowNNZ returns the number of stored entries of row i.
func (m *CSR) RowNNZ(i int) int { return m.indptr[i+1] - m.indptr[i] }

// DoNonZero calls fn for every stored entry, row by row with ascending columns.
func (m *CSR) DoNonZero(fn func(i, j int, v float64)) {
	for i := range m.rows {
		m.DoRowNonZero(i, fn)
	}
}

// DoRowNonZero calls fn for every stored entry of row i, with ascending columns.
func (m *CSR) DoRowNonZero(i int, fn func(i, j int, v float64)) {
	for p := m.indptr[i]; p < m.indptr[i+1]; p++ {
		fn(i, int(m.indices[p]), m.data[p])
	}
}

// MulVecTo writes m·src (trans false) or mᵀ·src (trans true) to dst. It overwrites dst (the library it follows adds)
// and panics if the lengths do not fit. dst must not overlap src.
func (m *CSR) MulVecTo(dst []float64, trans bool, src []float64) {
	if trans {
		if len(dst) != m.cols || len(src) != m.rows {
			panic(mat.ErrShape)
		}
		clear(dst)
		for i, x := range src {
			for p := m.indptr[i]; p < m.indptr[i+1]; p++ {
				dst[m.indices[p]] += m.data[p] * x
			}
		}
		return
	}
	if len(dst) != m.rows || len(src) != m.cols {
		panic(mat.ErrShape)
	}
	m.mulRows(dst, src, 0, m.rows)
}

// mulRows writes the numbers from..to-1 of m·src to dst.
func (m *CSR) mulRows(dst, src []float64, from, to int) {
	for i := from; i < to; i++ {
		var sum float64
		columns := m.indices[m.indptr[i]:m.indptr[i+1]]
		for p, v := range m.data[m.indptr[i]:m.indptr[i+1]] {
			sum += v * src[columns[p]]
		}
		dst[i] = sum
	}
}

// Symmetric reports whether the matrix is square and equal to its transpose up to the tolerance.
func (m *CSR) Symmetric(tolerance float64) bool {
	if m.rows != m.cols {
		return false
	}
	for i := range m.rows {
		for p := m.indptr[i]; p < m.indptr[i+1]; p++ {
			if j := int(m.indices[p]); j != i && !(math.Abs(m.At(j, i)-m.data[p]) <= tolerance) {
				return false
			}
		}
	}
	return true
}

// ToDense returns a dense copy.
func (m *CSR) ToDense() *mat.Dense {
	d := mat.NewDense(m.rows, m.cols, nil)
	m.DoNonZero(d.Set)
	return d
}

// Transpose returns a CSR copy of the transpose.
func (m *CSR) Transpose() *CSR {
	indptr := make([]int, m.cols+1)
	for _, j := range m.indices {
		indptr[j+1]++
	}
	for j := range m.cols {
		indptr[j+1] += indptr[j]
	}
	next := append([]int(nil), indptr[:m.cols]...)
	indices := make([]int32, m.NNZ())
	data := make([]float64, m.NNZ())
	m.DoNonZero(func(i, j int, v float64) {
		indices[next[j]], data[next[j]] = int32(i), v
		next[j]++
	})
	return newCSR(m.cols, m.rows, indptr, indices, data)
}

// MulMatTo writes m·src to dst, for width vectors at once, on all processors: src holds cols×width numbers and dst
// rows×width, the numbers of a row side by side. It panics if the lengths do not fit. dst must not overlap src.
func (m *CSR) MulMatTo(dst, src []float64, width int) {
	if len(dst) != m.rows*width || len(src) != m.cols*width {
		panic(mat.ErrShape)
	}
	parallel.Chunks(m.rows, func(_, from, to int) {
		if width == 1 {
			m.mulRows(dst, src, from, to)
			return
		}
		for i := from; i < to; i++ {
			row := dst[i*width : (i+1)*width]
			clear(row)
			for p := m.indptr[i]; p < m.indptr[i+1]; p++ {
				v := m.data[p]
				for c, x := range src[int(m.indices[p])*width:][:width] {
					row[c] += v * x
				}
			}
		}
	})
}

package gemm

import "mafalda/internal/parallel"

// panel is the number of columns of B that a goroutine solves for, or multiplies, at a time.
const panel = 96

// base is the order of triangles at which halving ends.
const base = 16

// triangle is op(A) of a triangular A.
type triangle[T number] struct {
	operand[T]
	lower bool // op(A), not A
	unit  bool // the diagonal counts as ones
}

func (t triangle[T]) entry(i, j int) T {
	if t.trans {
		i, j = j, i
	}
	return t.data[i*t.stride+j]
}

// corner returns the triangle without its first i rows and columns.
func (t triangle[T]) corner(i int) triangle[T] {
	t.operand = t.offset(i, i)
	return t
}

// transpose returns op(A)ᵀ.
func (t triangle[T]) transpose() triangle[T] {
	t.trans, t.lower = !t.trans, !t.lower
	return t
}

// level3 are an engine's products and solves with triangles. axpy adds alpha·x to y.
type level3[T number] struct {
	*engine[T]
	axpy func(alpha T, x, y []T)
}

// half splits an order into a multiple of base and the rest.
func half(n int) int { return roundUp(n/2, base) }

// solve replaces B, n×cols, by op(A)⁻¹B.
func (l level3[T]) solve(t triangle[T], n, cols int, b []T, stride int) {
	if n <= base {
		l.solveBase(t, n, cols, b, stride)
		return
	}
	h := half(n)
	top, bottom := b, b[h*stride:]
	if t.lower {
		l.solve(t, h, cols, top, stride)
		l.addSerial(n-h, cols, h, -1, t.offset(h, 0), operand[T]{top, stride, false}, bottom, stride)
		l.solve(t.corner(h), n-h, cols, bottom, stride)
		return
	}
	l.solve(t.corner(h), n-h, cols, bottom, stride)
	l.addSerial(h, cols, n-h, -1, t.offset(0, h), operand[T]{bottom, stride, false}, top, stride)
	l.solve(t, h, cols, top, stride)
}

func (l level3[T]) solveBase(t triangle[T], n, cols int, b []T, stride int) {
	for step := range n {
		i := step
		if !t.lower {
			i = n - 1 - step
		}
		row := b[i*stride:][:cols]
		for earlier := range step {
			j := earlier
			if !t.lower {
				j = n - 1 - earlier
			}
			l.axpy(-t.entry(i, j), b[j*stride:][:cols], row)
		}
		if !t.unit {
			d := t.entry(i, i)
			for c := range row {
				row[c] /= d
			}
		}
	}
}

// multiply replaces B, n×cols, by op(A)·B.
func (l level3[T]) multiply(t triangle[T], n, cols int, b []T, stride int) {
	if n <= base {
		l.multiplyBase(t, n, cols, b, stride)
		return
	}
	h := half(n)
	top, bottom := b, b[h*stride:]
	if t.lower {
		l.multiply(t.corner(h), n-h, cols, bottom, stride)
		l.addSerial(n-h, cols, h, 1, t.offset(h, 0), operand[T]{top, stride, false}, bottom, stride)
		l.multiply(t, h, cols, top, stride)
		return
	}
	l.multiply(t, h, cols, top, stride)
	l.addSerial(h, cols, n-h, 1, t.offset(0, h), operand[T]{bottom, stride, false}, top, stride)
	l.multiply(t.corner(h), n-h, cols, bottom, stride)
}

func (l level3[T]) multiplyBase(t triangle[T], n, cols int, b []T, stride int) {
	for step := range n {
		i, to := n-1-step, 0 // rows that others still need come last
		if !t.lower {
			i, to = step, n-1
		}
		row := b[i*stride:][:cols]
		if !t.unit {
			d := t.entry(i, i)
			for c := range row {
				row[c] *= d
			}
		}
		for j := min(i, to); j <= max(i, to); j++ {
			if j != i {
				l.axpy(t.entry(i, j), b[j*stride:][:cols], row)
			}
		}
	}
}

// triangular is solve or multiply.
type triangular[T number] func(t triangle[T], n, cols int, b []T, stride int)

// applyLeft applies f to panels of columns of B, n×cols.
func (l level3[T]) applyLeft(f triangular[T], t triangle[T], n, cols int, b []T, stride int) {
	parallel.For((cols+panel-1)/panel, func(job int) {
		from := job * panel
		f(t, n, min(panel, cols-from), b[from:], stride)
	})
}

// right is left for B·op(A) or B·op(A)⁻¹, B rows×n: panels of rows are transposed, and so is the triangle.
func (l level3[T]) right(f triangular[T], t triangle[T], rows, n int, b []T, stride int) {
	parallel.For((rows+panel-1)/panel, func(job int) {
		from := job * panel
		count := min(panel, rows-from)
		scratch := borrow[T](n * count)
		defer giveBack(scratch)
		across := *scratch
		transpose(across, count, b[from*stride:], stride, count, n)
		f(t.transpose(), n, count, across, count)
		transpose(b[from*stride:], stride, across, count, n, count)
	})
}

// transpose writes the rows×cols matrix src to dst, cols×rows.
func transpose[T number](dst []T, dstStride int, src []T, srcStride, rows, cols int) {
	const size = 16
	for i0 := 0; i0 < rows; i0 += size {
		for j0 := 0; j0 < cols; j0 += size {
			for i := i0; i < min(i0+size, rows); i++ {
				row := src[i*srcStride:]
				for j := j0; j < min(j0+size, cols); j++ {
					dst[j*dstStride+i] = row[j]
				}
			}
		}
	}
}

// diagonal is the order of blocks on the diagonal of a symmetric product, of which only a half is wanted.
const diagonal = 96

// symmetric adds alpha·op(A)·op(A)ᵀ to one triangle of C, n×n; op(A) is n×k.
func (l level3[T]) symmetric(lower bool, n, k int, alpha T, a operand[T], c []T, stride int) {
	across := a
	across.trans = !a.trans
	blocks := (n + diagonal - 1) / diagonal
	parallel.For(blocks, func(job int) {
		i := (blocks - 1 - job) * diagonal // of a lower triangle, the longest rows first
		if !lower {
			i = job * diagonal
		}
		size := min(diagonal, n-i)
		scratch := borrow[T](size * size)
		defer giveBack(scratch)
		square := *scratch
		clear(square)
		l.addSerial(size, size, k, alpha, a.offset(i, 0), across.offset(0, i), square, size)
		for r := range size {
			row := c[(i+r)*stride+i:]
			from, to := 0, r+1
			if !lower {
				from, to = r, size
			}
			for j := from; j < to; j++ {
				row[j] += square[r*size+j]
			}
		}
		if lower {
			l.addSerial(size, i, k, alpha, a.offset(i, 0), across, c[i*stride:], stride)
		} else if rest := n - i - size; rest > 0 {
			l.addSerial(size, rest, k, alpha, a.offset(i, 0), across.offset(0, i+size), c[i*stride+i+size:], stride)
		}
	})
}

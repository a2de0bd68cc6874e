package gemm

import (
	"runtime"
	"sync"

	"mafalda/internal/parallel"
)

// engine multiplies matrices with one kernel.
type engine[T number] struct {
	name       string
	rows, cols int // MR, NR: the kernel's tile
	kernel     func(k int, a, b, c *T, stride int)
}

// The sizes of what is packed at a time: a block of A stays in the second cache, a sliver of B (blockK×NR) in the
// first.
const (
	blockM = 192 // a multiple of every MR
	blockK = 256
	blockN = 1152 // a multiple of every NR
)

// operand is a factor op(X) of a product: rows stride apart, transposed or not.
type operand[T number] struct {
	data   []T
	stride int
	trans  bool
}

// offset returns the operand without its first i rows and first j columns, as op(X) counts them.
func (o operand[T]) offset(i, j int) operand[T] {
	if o.trans {
		i, j = j, i
	}
	o.data = o.data[i*o.stride+j:]
	return o
}

// small is the number of multiplications below which packing does not pay.
const small = 6 * 6 * 6

// add adds alpha·op(A)·op(B), which is m×k times k×n, to C. The result does not depend on the number of goroutines.
func (e *engine[T]) add(m, n, k int, alpha T, a, b operand[T], c []T, stride int) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	rows, cols := e.share(m, n, k)
	if rows == m && cols == n {
		e.addSerial(m, n, k, alpha, a, b, c, stride)
		return
	}
	down, across := (m+rows-1)/rows, (n+cols-1)/cols
	parallel.For(down*across, func(job int) {
		i, j := job/across*rows, job%across*cols
		e.addSerial(min(rows, m-i), min(cols, n-j), k, alpha, a.offset(i, 0), b.offset(0, j), c[i*stride+j:], stride)
	})
}

// share returns the size of the parts of C that goroutines compute: about one for each, of at least a million
// multiplications.
func (e *engine[T]) share(m, n, k int) (rows, cols int) {
	workers := runtime.GOMAXPROCS(0)
	if most := m * n / (1 << 20) * k; m*n*k < 1<<21 {
		return m, n
	} else if most > 0 {
		workers = min(workers, max(most, 2))
	}
	rows, cols = m, n
	for parts := 1; parts < workers; parts *= 2 {
		if rows >= cols && rows > 2*e.rows {
			rows = roundUp((rows+1)/2, e.rows)
		} else if cols > 2*e.cols {
			cols = roundUp((cols+1)/2, e.cols)
		}
	}
	return rows, cols
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// buffers are packed blocks of A and B, and a tile.
type buffers[T number] struct{ a, b, tile []T }

var doubleScratch, singleScratch sync.Pool

func scratchOf[T number]() *sync.Pool {
	var zero T
	if _, ok := any(zero).(float64); ok {
		return &doubleScratch
	}
	return &singleScratch
}

// borrow returns n numbers of any values.
func borrow[T number](n int) *[]T {
	if s, ok := scratchOf[T]().Get().(*[]T); ok && cap(*s) >= n {
		*s = (*s)[:n]
		return s
	}
	s := make([]T, n)
	return &s
}

// giveBack keeps borrowed numbers for the next one who needs some.
func giveBack[T number](s *[]T) { scratchOf[T]().Put(s) }

// addSerial is add on this goroutine.
func (e *engine[T]) addSerial(m, n, k int, alpha T, a, b operand[T], c []T, stride int) {
	if m*n*k <= small {
		addSmall(m, n, k, alpha, a, b, c, stride)
		return
	}
	packedA := roundUp(min(m, blockM), e.rows) * min(k, blockK)
	packedB := roundUp(min(n, blockN), e.cols) * min(k, blockK)
	scratch := borrow[T](packedA + packedB + e.rows*e.cols)
	defer giveBack(scratch)
	work := &buffers[T]{(*scratch)[:packedA], (*scratch)[packedA : packedA+packedB], (*scratch)[packedA+packedB:]}
	for j := 0; j < n; j += blockN {
		width := min(blockN, n-j)
		for p := 0; p < k; p += blockK {
			depth := min(blockK, k-p)
			packB(work.b, b.offset(p, j), depth, width, e.cols)
			for i := 0; i < m; i += blockM {
				height := min(blockM, m-i)
				packA(work.a, a.offset(i, p), height, depth, e.rows, alpha)
				e.block(work, height, width, depth, c[i*stride+j:], stride)
			}
		}
	}
}

// block adds the product of packed blocks to C.
func (e *engine[T]) block(work *buffers[T], height, width, depth int, c []T, stride int) {
	for j := 0; j < width; j += e.cols {
		b := &work.b[j*depth]
		cols := min(e.cols, width-j)
		for i := 0; i < height; i += e.rows {
			a := &work.a[i*depth]
			if rows := min(e.rows, height-i); rows < e.rows || cols < e.cols {
				e.edge(work.tile, depth, a, b, c[i*stride+j:], stride, rows, cols)
			} else {
				e.kernel(depth, a, b, &c[i*stride+j], stride)
			}
		}
	}
}

// edge adds a tile of which only a part is in C.
func (e *engine[T]) edge(tile []T, depth int, a, b *T, c []T, stride, rows, cols int) {
	tile = tile[:e.rows*e.cols]
	clear(tile)
	e.kernel(depth, a, b, &tile[0], e.cols)
	for i := range rows {
		row := c[i*stride:][:cols]
		for j, v := range tile[i*e.cols:][:cols] {
			row[j] += v
		}
	}
}

// addSmall adds a small product by the definition, entry by entry.
func addSmall[T number](m, n, k int, alpha T, a, b operand[T], c []T, stride int) {
	for i := range m {
		for j := range n {
			var sum T
			for p := range k {
				x, y := i*a.stride+p, p*b.stride+j
				if a.trans {
					x = p*a.stride + i
				}
				if b.trans {
					y = j*b.stride + p
				}
				sum += alpha * a.data[x] * b.data[y]
			}
			c[i*stride+j] += sum
		}
	}
}

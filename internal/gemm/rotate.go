package gemm

import (
	"unsafe"

	"mafalda/internal/parallel"
)

// Sweep is a chain of plane rotations of neighbouring rows from First on: the i-th makes of the rows x and y, First+i
// and the next, cx + sy and cy - sx with c = Turns[2i] and s = Turns[2i+1], so that the next one starts from its y.
type Sweep struct {
	First int
	Turns []float64
}

// panelWidth is how many columns are rotated at a time. All their rows, up to some hundreds, stay in the second cache.
const panelWidth = 32

// Rotate applies sweeps, one after the other, to the rows of an n×n matrix.
func Rotate(a []float64, n int, sweeps []Sweep) {
	if n == 0 {
		return
	}
	check(n, n, a, n)
	for _, s := range sweeps {
		if s.First < 0 || len(s.Turns)%2 != 0 || s.First+len(s.Turns)/2 >= n {
			panic("gemm: a sweep goes beyond the rows of the matrix")
		}
	}
	parallel.For((n+panelWidth-1)/panelWidth, func(i int) {
		from := i * panelWidth
		width := min(panelWidth, n-from)
		panel := make([]float64, n*panelWidth)
		for r := range n {
			copy(panel[r*panelWidth:], a[r*n+from:r*n+from+width])
		}
		for _, s := range sweeps {
			if len(s.Turns) > 0 {
				rotate(len(s.Turns)/2, &s.Turns[0], &panel[s.First*panelWidth])
			}
		}
		for r := range n {
			copy(a[r*n+from:r*n+from+width], panel[r*panelWidth:])
		}
	})
}

// rotate applies count rotations to count + 1 rows of a panel.
var rotate = portableRotate

// portableRotate is rotate for machines without a kernel in assembly.
func portableRotate(count int, turns, rows *float64) {
	cs, panel := unsafe.Slice(turns, 2*count), unsafe.Slice(rows, (count+1)*panelWidth)
	for i := range count {
		c, s := cs[2*i], cs[2*i+1]
		x, y := panel[i*panelWidth:(i+1)*panelWidth], panel[(i+1)*panelWidth:(i+2)*panelWidth]
		for j, v := range x {
			w := y[j]
			x[j] = c*v + s*w
			y[j] = c*w - s*v
		}
	}
}

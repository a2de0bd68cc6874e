package gemm

import "unsafe"

// number is what matrices hold.
type number interface{ float32 | float64 }

var (
	portableDoubles = &engine[float64]{"portable", portableRows, portableColumns, portable[float64]}
	portableSingles = &engine[float32]{"portable", portableRows, portableColumns, portable[float32]}
	doubles         = portableDoubles // what this machine runs fastest
	singles         = portableSingles
)

const (
	portableRows    = 4
	portableColumns = 4
)

// portable is the kernel for machines without one in assembly. Its 4×4 tile stays in registers where there are enough.
func portable[T number](k int, a, b, c *T, stride int) {
	var s [portableRows][portableColumns]T
	left, right := unsafe.Slice(a, k*portableRows), unsafe.Slice(b, k*portableColumns)
	var s00, s01, s02, s03, s10, s11, s12, s13, s20, s21, s22, s23, s30, s31, s32, s33 T
	for len(left) >= 4 && len(right) >= 4 {
		a0, a1, a2, a3 := left[0], left[1], left[2], left[3]
		b0, b1, b2, b3 := right[0], right[1], right[2], right[3]
		s00 += a0 * b0
		s01 += a0 * b1
		s02 += a0 * b2
		s03 += a0 * b3
		s10 += a1 * b0
		s11 += a1 * b1
		s12 += a1 * b2
		s13 += a1 * b3
		s20 += a2 * b0
		s21 += a2 * b1
		s22 += a2 * b2
		s23 += a2 * b3
		s30 += a3 * b0
		s31 += a3 * b1
		s32 += a3 * b2
		s33 += a3 * b3
		left, right = left[4:], right[4:]
	}
	s = [portableRows][portableColumns]T{{s00, s01, s02, s03}, {s10, s11, s12, s13}, {s20, s21, s22, s23},
		{s30, s31, s32, s33}}
	tile := unsafe.Slice(c, (portableRows-1)*stride+portableColumns)
	for i, row := range s {
		for j, v := range row {
			tile[i*stride+j] += v
		}
	}
}

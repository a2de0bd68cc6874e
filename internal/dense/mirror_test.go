package dense

import (
	"slices"
	"testing"
)

// What is beside the diagonal of matrices of one tile, and of several, is copied to the other side, or swapped.
func TestMirrors(t *testing.T) {
	for _, n := range []int{0, 1, 3, 32, 33, 70} {
		m := make([]float64, n*n)
		for i := range m {
			m[i] = float64(i)
		}
		lower, upper, swapped := slices.Clone(m), slices.Clone(m), slices.Clone(m)
		Mirror(lower, n)
		MirrorUpper(upper, n)
		Transpose(swapped, n)
		for i := range n {
			for j := range n {
				small, large := min(i, j), max(i, j)
				if lower[i*n+j] != m[large*n+small] || upper[i*n+j] != m[small*n+large] || swapped[i*n+j] != m[j*n+i] {
					t.Fatalf("n = %d: entry (%d, %d)", n, i, j)
				}
			}
		}
	}
}

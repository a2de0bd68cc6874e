package gemm

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// AᵀA = RᵀR, for sparse matrices, too, whose reflectors are short.
func TestTriangularize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 2, 31, 32, 33, 64, 100, 150, 200}).Draw(t, "n")
		m := n + rapid.IntRange(0, 2*n).Draw(t, "more")
		density := rapid.SampledFrom([]float64{0, 0.01, 0.05, 1}).Draw(t, "density")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		a := mat.NewDense(m, n, nil)
		for i := range m {
			for j := range n {
				if r.Float64() < density {
					a.Set(i, j, r.NormFloat64())
				}
			}
		}
		b := mat.DenseCopyOf(a)
		raw := b.RawMatrix()
		Triangularize(m, n, raw.Data, raw.Stride)
		upper := mat.NewDense(n, n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				upper.Set(i, j, b.At(i, j))
			}
		}
		var want, got mat.Dense
		want.Mul(a.T(), a)
		got.Mul(upper.T(), upper)
		got.Sub(&got, &want)
		if miss, size := mat.Norm(&got, 2), mat.Norm(&want, 2); miss > 1e-13*size || math.IsNaN(miss) {
			t.Fatalf("%d×%d, density %g: RᵀR is %g away from AᵀA of norm %g", m, n, density, miss, size)
		}
	})
}

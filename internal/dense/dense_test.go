package dense

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	_ "mafalda/internal/seeded"
)

func TestProducts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(1, 20), rapid.IntRange(120, 140), rapid.IntRange(250, 260)).Draw(t, "n")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
		random := func() []float64 {
			m := make([]float64, n*n)
			for i := range m {
				m[i] = rng.NormFloat64()
			}
			return m
		}
		unwritten := func() []float64 {
			m := make([]float64, n*n)
			for i := range m {
				m[i] = math.NaN()
			}
			return m
		}
		check := func(what string, got []float64, want mat.Matrix) {
			if !mat.EqualApprox(mat.NewDense(n, n, got), want, 1e-11) {
				t.Fatalf("n = %d: %s is wrong", n, what)
			}
		}
		r, a := random(), random()
		for i := range n {
			clear(r[i*n : i*n+i])
		}
		var want mat.Dense
		want.Mul(mat.NewDense(n, n, a), mat.NewDense(n, n, r).T())
		got := unwritten()
		MulUpperTo(got, a, r, n)
		check("MulUpperTo", got, &want)
		got = unwritten()
		MulTo(got, a, r, n)
		check("MulTo", got, &want)

		want.Mul(mat.NewDense(n, n, a), mat.NewDense(n, n, a).T())
		got = unwritten()
		MulSymTo(got, a, a, n)
		check("MulSymTo", got, &want)

		got = append([]float64(nil), a...)
		Transpose(got, n)
		check("Transpose", got, mat.NewDense(n, n, a).T())
	})
}

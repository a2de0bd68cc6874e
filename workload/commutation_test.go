package workload

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

func randomDense(t *rapid.T, name string, r, c int) *mat.Dense {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, name), 2))
	d := mat.NewDense(r, c, nil)
	d.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, d)
	return d
}

// commuted returns K^(p,m) (X ⊗ Y) and (Y ⊗ X) K^(q,n).
func commuted(leftK, rightK mat.Matrix, x, y *mat.Dense) (left, right *mat.Dense) {
	var xy, yx, l, r mat.Dense
	xy.Kronecker(x, y)
	yx.Kronecker(y, x)
	l.Mul(leftK, &xy)
	r.Mul(&yx, rightK)
	return &l, &r
}

func TestCommutationSwapsKroneckerFactors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 4)
		m, n, p, q := size.Draw(t, "m"), size.Draw(t, "n"), size.Draw(t, "p"), size.Draw(t, "q")
		left, right := commuted(commutation(p, m), commutation(q, n), randomDense(t, "X", m, n),
			randomDense(t, "Y", p, q))
		if !mat.Equal(left, right) {
			t.Fatalf("K(%d,%d)(X⊗Y) differs from (Y⊗X)K(%d,%d)", p, m, q, n)
		}
	})
}

// The identity as printed in the paper, K(n,T)(X⊗Y) = (Y⊗X)K(T,n), holds for X of T×n and Y of n×T and fails for the
// square X and Y of its text.
func TestPrintedCommutationIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, steps := rapid.IntRange(1, 4).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "T")
		left, right := commuted(commutation(n, steps), commutation(steps, n),
			randomDense(t, "X", steps, n), randomDense(t, "Y", n, steps))
		if !mat.Equal(left, right) {
			t.Fatal("the printed identity fails for X of T×n and Y of n×T")
		}
		x, y := randomDense(t, "square X", n, n), randomDense(t, "square Y", steps, steps)
		left, right = commuted(commutation(steps, n), commutation(steps, n), x, y)
		if !mat.Equal(left, right) {
			t.Fatal("K(T,n)(X⊗Y) differs from (Y⊗X)K(T,n) for square X and Y")
		}
		if n > 1 && steps > 1 && n != steps {
			if left, right = commuted(commutation(n, steps), commutation(steps, n), x, y); mat.Equal(left, right) {
				t.Fatal("the printed identity holds for square X and Y after all")
			}
		}
	})
}

func TestCommutationIsVecOfTranspose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, c := rapid.IntRange(1, 5).Draw(t, "r"), rapid.IntRange(1, 5).Draw(t, "c")
		z := randomDense(t, "Z", r, c)
		vec := func(m mat.Matrix) *mat.VecDense { // columns on top of each other
			rows, cols := m.Dims()
			v := mat.NewVecDense(rows*cols, nil)
			for j := range cols {
				for i := range rows {
					v.SetVec(j*rows+i, m.At(i, j))
				}
			}
			return v
		}
		k := commutation(r, c)
		var got, back mat.VecDense
		got.MulVec(k, vec(z))
		if !mat.Equal(&got, vec(z.T())) {
			t.Fatal("K(r,c) vec(Z) is not vec(Zᵀ)")
		}
		back.MulVec(commutation(c, r), &got)
		if !mat.Equal(&back, vec(z)) {
			t.Fatal("K(c,r) is not the inverse of K(r,c)")
		}
		v := make([]float64, r*c)
		for i, from := range commutationIndex(r, c) {
			v[i] = vec(z).AtVec(from)
		}
		if !mat.Equal(mat.NewVecDense(r*c, v), &got) {
			t.Fatal("the index permutation differs from the matrix")
		}
	})
}

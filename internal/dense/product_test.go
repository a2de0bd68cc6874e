package dense

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/internal/gemm"
)

// TestLikeGonum: what is here is, bit for bit, what gonum's own methods give a program that has it use the kernels.
func TestLikeGonum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.OneOf(rapid.IntRange(1, 9), rapid.IntRange(60, 140))
		n, k := size.Draw(t, "n"), size.Draw(t, "k")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 6))
		random := func(r, c int) *mat.Dense {
			m := mat.NewDense(r, c, nil)
			m.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, m)
			return m
		}
		a, b, square := random(n, k), random(n, k), random(n, n)
		symmetric, upper := mat.NewSymDense(n, nil), mat.NewTriDense(n, mat.Upper, nil)
		for i := range n {
			for j := i; j < n; j++ {
				symmetric.SetSym(i, j, square.At(i, j))
				upper.SetTri(i, j, square.At(i, j)/float64(n))
			}
			upper.SetTri(i, i, 1)
		}
		with := operands{a, b, square, symmetric, upper}
		got := with.all(t, here)
		gemm.Use()
		defer func() {
			blas64.Use(blasgonum.Implementation{})
			lapack64.Use(lapackgonum.Implementation{})
		}()
		for i, want := range with.all(t, gonums) {
			if !mat.Equal(got[i], want) {
				t.Fatalf("n = %d, k = %d: result %d is not gonum's", n, k, i)
			}
		}
	})
}

// operations are what both have.
type operations struct {
	mul        func(dst *mat.Dense, a, b mat.Matrix)
	symOuterK  func(dst *mat.SymDense, alpha float64, a mat.Matrix)
	inverseTri func(dst, a *mat.TriDense) error
	cholesky   func() cholesky
}

type cholesky interface {
	Factorize(a mat.Symmetric) bool
	LTo(dst *mat.TriDense)
	SolveTo(dst *mat.Dense, b mat.Matrix)
	InverseTo(dst *mat.SymDense)
}

// theirs is gonum's, whose errors say that a result is of low accuracy.
type theirs struct{ mat.Cholesky }

func (t *theirs) SolveTo(dst *mat.Dense, b mat.Matrix) { _ = t.Cholesky.SolveTo(dst, b) }
func (t *theirs) InverseTo(dst *mat.SymDense)          { _ = t.Cholesky.InverseTo(dst) }

var (
	here   = operations{Mul, SymOuterK, InverseTri, func() cholesky { return &Cholesky{} }}
	gonums = operations{(*mat.Dense).Mul, (*mat.SymDense).SymOuterK,
		func(dst, a *mat.TriDense) error { return dst.InverseTri(a) }, func() cholesky { return &theirs{} }}
)

// operands are n×k twice, and n×n.
type operands struct {
	a, b, square *mat.Dense
	symmetric    *mat.SymDense
	upper        *mat.TriDense
}

func (x operands) all(t *rapid.T, o operations) []mat.Matrix {
	a, b, square, symmetric, upper := x.a, x.b, x.square, x.symmetric, x.upper
	n, k := a.Dims()
	var out []mat.Matrix
	for _, factors := range [][2]mat.Matrix{{a.T(), b}, {a, b.T()}, {square, a}, {a.T(), square.T()}, {symmetric, a},
		{square, symmetric}, {upper, a}, {square, upper}, {a.T(), upper}, {a.T(), symmetric}, {symmetric, a},
		{upper, square.T()},
		{symmetric, square.T()}, {upper.T(), a}, {symmetric, upper}} {
		var product mat.Dense
		o.mul(&product, factors[0], factors[1])
		out = append(out, &product)
	}
	for _, m := range []mat.Matrix{a, a.T(), upper, upper.T()} {
		rows, _ := m.Dims()
		gram := mat.NewSymDense(rows, nil)
		o.symOuterK(gram, 0.5, m)
		out = append(out, gram)
	}
	inverse := mat.NewTriDense(n, mat.Upper, nil)
	if err := o.inverseTri(inverse, upper); err != nil {
		t.Fatal(err)
	}
	positive := mat.NewSymDense(n, nil)
	o.symOuterK(positive, 1, square)
	for i := range n {
		positive.SetSym(i, i, positive.At(i, i)+1)
	}
	c := o.cholesky()
	c.Factorize(symmetric) // whatever it says: used again
	if !c.Factorize(positive) {
		t.Fatal("no factor")
	}
	var l mat.TriDense
	c.LTo(&l)
	solved, inverted := mat.NewDense(n, k, nil), mat.NewSymDense(n, nil)
	c.SolveTo(solved, a)
	c.InverseTo(inverted)
	return append(out, inverse, &l, solved, inverted)
}

// Condition errors are gonum's, too.
func TestConditions(t *testing.T) {
	if new(Cholesky).Factorize(mat.NewSymDense(2, []float64{1, 2, 2, 1})) {
		t.Error("a factor of an indefinite matrix")
	}
	for _, d := range []float64{0, 1e-17} {
		singular := mat.NewTriDense(2, mat.Lower, []float64{1, 0, 1, d})
		ours, theirs := mat.NewTriDense(2, mat.Lower, nil), mat.NewTriDense(2, mat.Lower, nil)
		if got, want := InverseTri(ours, singular), theirs.InverseTri(singular); got != want {
			t.Errorf("diagonal %g: %v, gonum's error is %v", d, got, want)
		}
	}
}

func TestWrongShapes(t *testing.T) {
	a := mat.NewDense(2, 3, nil)
	for name, f := range map[string]func(){
		"factors": func() { Mul(&mat.Dense{}, a, a) },
		"dst":     func() { Mul(mat.NewDense(3, 3, nil), a, a.T()) },
		"gram":    func() { SymOuterK(mat.NewSymDense(3, nil), 1, a) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

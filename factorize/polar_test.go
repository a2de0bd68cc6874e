package factorize

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/internal/dense"
)

// polarNuclear is the bound on ‖N‖_*, with what it is of.
func polarNuclear(t testing.TB, n []float64, steps int) (nuclear float64, tight bool) {
	t.Helper()
	p, ok := newPolar(n, steps, newScratch(steps))
	if !ok {
		t.Fatal("no polar factor")
	}
	return p.nuclear(n, 0)
}

// gradedMatrix draws an n×n matrix of any rank, with singular values of up to 18 powers of ten.
func gradedMatrix(t *rapid.T, rng *rand.Rand, n int) []float64 {
	powers, rank := rapid.Float64Range(0, 18).Draw(t, "powers"), rapid.IntRange(0, n).Draw(t, "rank")
	left, right := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i := range n {
		scale := math.Pow(10, -powers*rng.Float64())
		if i >= rank {
			scale = 0
		}
		for j := range n {
			left.Set(j, i, rng.NormFloat64()*scale)
			right.Set(i, j, rng.NormFloat64())
		}
	}
	var product mat.Dense
	product.Mul(left, right)
	return product.RawMatrix().Data
}

// symmetricRoot returns (NᵀN)^½ of the N with such singular values and right singular vectors, a row each.
func symmetricRoot(n int, d, v []float64) *mat.SymDense {
	scaled := mat.DenseCopyOf(mat.NewDense(n, n, v).T())
	scaled.Apply(func(_, j int, x float64) float64 { return x * math.Sqrt(d[j]) }, scaled)
	var sum mat.SymDense
	sum.SymOuterK(1, scaled)
	return &sum
}

// Of matrices of any rank and grading the bound is never above the sum of the singular values, which it nearly is.
func TestPolarIsBelowTheNuclearNorm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "T")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 33))
		product := gradedMatrix(t, rng, n)
		var svd mat.SVD
		if !svd.Factorize(mat.NewDense(n, n, product), mat.SVDNone) {
			t.Fatal("no singular values")
		}
		want := floats.Sum(svd.Values(nil))
		p, ok := newPolar(product, n, newScratch(n))
		if !ok {
			t.Fatal("no polar factor")
		}
		got, tight := p.nuclear(product, 0)
		if got > want*(1+1e-14*float64(n)) {
			t.Fatalf("bound %v, singular values %v", got, want)
		}
		if !tight || got < want*(1-1e-8) {
			t.Fatalf("bound %v (%v) is not tight: singular values %v", got, tight, svd.Values(nil))
		}
		p.w[rng.IntN(n*n)] += rng.NormFloat64() // whatever U is
		p.v[rng.IntN(n*n)] += rng.NormFloat64()
		if got, _ := p.nuclear(product, 0); got > want*(1+1e-14*float64(n)) {
			t.Fatalf("bound %v by some U, singular values %v", got, want)
		}
	})
}

func TestPolarOfExactCases(t *testing.T) {
	for _, c := range []struct {
		n    []float64
		want float64
	}{
		{[]float64{-3}, 3},
		{[]float64{0}, 0},
		{[]float64{0, 2, -5, 0}, 7},
		{[]float64{1, 1, 1, 1}, 2},
		{[]float64{4, 0, 0, 0, 0, 0, 0, 0, 9}, 13},
	} {
		steps := int(math.Sqrt(float64(len(c.n))))
		got, _ := polarNuclear(t, c.n, steps)
		if got > c.want || got < c.want*(1-1e-12) {
			t.Errorf("%v: %v, want %v", c.n, got, c.want)
		}
	}
	if _, ok := newPolar([]float64{math.NaN()}, 1, newScratch(1)); ok {
		t.Error("a polar factor of NaN")
	}
}

// The bound of a Λ by its polar factor is the bound by singular values, but for rounding, and not above it.
func TestPolarBoundIsTheSingularValueBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		steps, k := s.Steps(), denseMask(s)
		h := randomGram(t, steps)
		o, root := objectiveOf(t, h, k)
		x := mat.DenseCopyOf(randomGram(t, steps)).RawMatrix().Data
		for math.IsInf(o.Value(x), 0) { // X, as the schema lets it be, is not positive definite
			for i := range steps {
				x[i*steps+i] *= 2
			}
		}
		o.GradientTo(make([]float64, len(x)))
		want, err := singularValueBound(root, o.lambda, k, o.scratch)
		if err != nil {
			t.Fatal(err)
		}
		f, total, err := dualFactor(o.lambda, k)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := polarBound(root, f, total, o.scratch); ok && (got > want*(1+1e-11) || got < want*(1-1e-7)) {
			t.Fatalf("bound %v, by singular values %v", got, want)
		}
	})
}

// The search in the dual by the Gram matrix, which is for many steps, makes as many steps as by the bidiagonal form, to
// the same maximum, and the bound there by the polar factor is the one by singular values.
func TestDualSearchByGram(t *testing.T) {
	const steps = 48
	k := denseMask(schema(t, 4, 12))
	var searches [2]*dualSearch
	var counts [2]int
	for i := range searches {
		n := dualOfSteps(t, prefixGram(steps), 4, 12)
		n.bidiagonal = i == 0
		if n.search(context.Background(), nil, 1e-9, func() { counts[i]++ }) == nil || n.bidiagonal != (i == 0) {
			t.Fatal("no maximum, or by another form")
		}
		searches[i] = n
	}
	a, b := searches[0].point.value, searches[1].point.value
	if counts[0] != counts[1] || math.Abs(a-b) > 1e-11*a {
		t.Errorf("%v after %d steps, by the Gram matrix %v after %d", a, counts[0], b, counts[1])
	}
	n := searches[1]
	root := mat.NewTriDense(steps, mat.Upper, n.root)
	want, err := singularValueBound(root, n.matrix(), k, n.scratch)
	if err != nil {
		t.Fatal(err)
	}
	f, total, err := dualFactor(n.matrix(), k)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := polarBound(root, f, total, n.scratch)
	if !ok || got > want*(1+1e-12) || got < want*(1-1e-10) {
		t.Errorf("bound by the polar factor %v (%v), by singular values %v", got, ok, want)
	}
}

// The singular vectors by the Gram matrix, which are for many steps, are the ones of the bidiagonal form: (NᵀN)^½ is
// the same, also of a matrix with singular values of all sizes, or of a low rank.
func TestSingularByGram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.IntRange(1, 40).Draw(t, "T")
		n := &dualSearch{maskedObjective: &maskedObjective{steps: steps, scratch: newScratch(steps)}}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 41))
		product := gradedMatrix(t, rng, n.steps)
		d, v, ok := n.singularByGram(product)
		if !ok {
			t.Fatal("no singular vectors")
		}
		want := make([]float64, len(v))
		values, ok := dense.Singular(want, append([]float64(nil), product...), n.steps)
		if !ok {
			t.Fatal("no singular values")
		}
		off := 1e-12 * float64(n.steps) * values[0]
		if !mat.EqualApprox(symmetricRoot(n.steps, d, v), symmetricRoot(n.steps, values, want), off) {
			t.Errorf("another polar factor: singular values %v, want %v", d, values)
		}
		if got, sum := floats.Sum(d), floats.Sum(values); math.Abs(got-sum) > off {
			t.Errorf("nuclear norm %v, want %v", got, sum)
		}
		var unit mat.SymDense
		unit.SymOuterK(1, mat.NewDense(n.steps, n.steps, v))
		if !mat.EqualApprox(&unit, mat.NewDiagDense(n.steps, slices.Repeat([]float64{1}, n.steps)), 1e-12) {
			t.Error("vectors that are not orthonormal")
		}
	})
}

package factorize

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/strategy"
)

// cosineBasis returns U: orthonormal DCT-II vectors as columns.
func cosineBasis(n int) *mat.Dense {
	u := mat.NewDense(n, n, nil)
	for t := range n {
		for j := range n {
			norm := math.Sqrt(2 / float64(n))
			if j == 0 {
				norm = 1 / math.Sqrt(float64(n))
			}
			u.Set(t, j, norm*math.Cos(math.Pi*(float64(t)+0.5)*float64(j)/float64(n)))
		}
	}
	return u
}

func randomSymmetric(rng *rand.Rand, n int) *mat.SymDense {
	m := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			m.SetSym(i, j, rng.NormFloat64())
		}
	}
	return m
}

func TestCosineIsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(1, 12), rapid.IntRange(60, 80)).Draw(t, "n")
		m := randomSymmetric(random(t), n)
		u := cosineBasis(n)
		var half, want mat.Dense
		half.Mul(u.T(), m)
		want.Mul(&half, u)
		c := newCosine(n, newScratch(n))
		got := mat.DenseCopyOf(m).RawMatrix().Data
		c.transform(got, c.t)
		if !mat.EqualApprox(mat.NewDense(n, n, got), &want, 1e-12*float64(n)) {
			t.Fatalf("n = %d: forward is not the transform", n)
		}
		for j, d := range c.diagonal(mat.DenseCopyOf(m).RawMatrix().Data) {
			if math.Abs(d-want.At(j, j)) > 1e-12*float64(n) {
				t.Fatalf("n = %d: diagonal %d is %v, must be %v", n, j, d, want.At(j, j))
			}
		}
		c.transform(got, c.u)
		if !mat.EqualApprox(mat.NewDense(n, n, got), m, 1e-10) {
			t.Fatalf("n = %d: backward does not undo forward", n)
		}
	})
}

// The metric is symmetric, positive definite on the mask's space, stays in it, and its gain fits the last pair.
func TestMetricContract(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		n := s.Steps()
		k := denseMask(s)
		m := newMetric(&maskedObjective{steps: n, mask: k, scratch: newScratch(n)})
		full := func(x *mat.SymDense) []float64 { return mat.DenseCopyOf(x).RawMatrix().Data }
		m.refresh(full(strategy.GramOf(randomStrategy(t, n))), full(strategy.GramOf(randomStrategy(t, n))))
		rng := random(t)
		a, b := full(randomSymmetric(rng, n)), full(randomSymmetric(rng, n))
		k.project(a)
		k.project(b)
		ma, mb := make([]float64, n*n), make([]float64, n*n)
		m.solveTo(ma, a)
		m.solveTo(mb, b)
		norm := floats.Norm(ma, 2)*floats.Norm(b, 2) + 1e-30
		if d := floats.Dot(ma, b) - floats.Dot(a, mb); math.Abs(d) > 1e-10*norm {
			t.Fatalf("not symmetric: %v", d)
		}
		again := append([]float64(nil), ma...)
		k.project(again)
		if !floats.EqualApprox(again, ma, 1e-12) {
			t.Fatal("the metric leaves the mask's space")
		}
		if floats.Norm(a, 2) > 1e-9 && floats.Dot(a, ma) <= 0 {
			t.Fatal("not positive definite")
		}
		if floats.Norm(a, 2) > 1e-9 {
			step := append([]float64(nil), ma...)
			floats.Scale(2.5, step)
			m.fit(step, a) // sᵀy = 2.5·yᵀMy
			m.solveTo(mb, a)
			if r := floats.Dot(a, mb) / floats.Dot(a, step); math.Abs(r-1) > 1e-9 {
				t.Fatalf("after fit yᵀMy is %v of sᵀy", r)
			}
		}
	})
}

// The gradient against central differences, along random directions of the mask's space.
func TestGradientIsDerivative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		n := s.Steps()
		h := randomGram(t, n)
		o, _ := objectiveOf(t, h, denseMask(s))
		x := startFor(h, o)
		direction := mat.DenseCopyOf(randomSymmetric(random(t), n)).RawMatrix().Data
		o.mask.project(direction)
		if norm := floats.Norm(direction, 2); norm > 0 {
			floats.Scale(1e-5/norm/float64(n), direction)
		}
		value := o.Value(x)
		gradient := make([]float64, n*n)
		o.GradientTo(gradient)
		at := func(sign float64) float64 {
			y := append([]float64(nil), x...)
			floats.AddScaled(y, sign, direction)
			return o.Value(y)
		}
		got, want := floats.Dot(gradient, direction), (at(1)-at(-1))/2
		if math.Abs(got-want) > 1e-4*math.Abs(want)+1e-11*value {
			t.Fatalf("derivative %v, by differences %v", got, want)
		}
	})
}

// Starts are feasible: masked, with unit pattern sums, positive definite.
func TestStartIsFeasible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		n := s.Steps()
		h := randomGram(t, n)
		o, _ := objectiveOf(t, h, denseMask(s))
		x := startFor(h, o)
		if math.IsInf(o.Value(x), 0) {
			t.Fatal("start is not positive definite")
		}
		for _, p := range s.Patterns() {
			var sum float64
			for _, i := range p {
				for _, j := range p {
					if i != j && x[i*n+j] != 0 {
						t.Fatalf("X[%d,%d] = %v in one pattern", i, j, x[i*n+j])
					}
				}
				sum += x[i*n+i]
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Fatalf("a pattern sums to %v", sum)
			}
		}
	})
}

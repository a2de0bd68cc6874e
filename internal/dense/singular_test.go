package dense

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// graded draws a matrix of which the singular values spread over powers of ten, some of them equal or zero.
func graded(t *rapid.T) ([]float64, int) {
	n := rapid.OneOf(rapid.IntRange(1, 12), rapid.SampledFrom([]int{31, 32, 33, 34, 65, 130})).Draw(t, "n")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	powers := rapid.Float64Range(0, 20).Draw(t, "powers")
	left, right := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i := range n {
		scale := math.Pow(10, -powers*math.Round(4*rng.Float64())/4)
		if rng.IntN(8) == 0 {
			scale = 0
		}
		for j := range n {
			left.Set(j, i, rng.NormFloat64()*scale)
			right.Set(i, j, rng.NormFloat64())
		}
	}
	var a mat.Dense
	switch rapid.IntRange(0, 2).Draw(t, "form") {
	case 0:
		a.Mul(left, right)
	case 1:
		a.CloneFrom(left)
	default:
		a.CloneFrom(left.T())
	}
	return a.RawMatrix().Data, n
}

// The values are gonum's, the vectors are orthogonal, and AV has orthogonal columns of these lengths.
func TestSingular(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data, n := graded(t)
		a := mat.DenseCopyOf(mat.NewDense(n, n, data))
		var svd mat.SVD
		if !svd.Factorize(a, mat.SVDNone) {
			t.Fatal("gonum finds none")
		}
		want := svd.Values(nil)
		vectors := make([]float64, n*n)
		values, ok := Singular(vectors, data, n)
		if !ok {
			t.Fatal("not ok")
		}
		noise := 1e-14 * float64(n) * math.Max(want[0], math.SmallestNonzeroFloat64)
		if !floats.EqualApprox(values, want, noise) {
			t.Fatalf("values %v, want %v", values, want)
		}
		v := mat.NewDense(n, n, vectors)
		var unit, av, square mat.Dense
		unit.Mul(v, v.T())
		av.Mul(a, v.T())
		square.Mul(av.T(), &av)
		for i := range n {
			for j := range n {
				is, squared := 0.0, 0.0
				if i == j {
					is, squared = 1, values[i]*values[i]
				}
				if math.Abs(unit.At(i, j)-is) > 1e-14*float64(n) {
					t.Fatalf("vectors %d and %d: %v", i, j, unit.At(i, j))
				}
				if math.Abs(square.At(i, j)-squared) > 2*noise*(values[i]+values[j]+noise) {
					t.Fatalf("columns %d and %d of AV: %v, want %v", i, j, square.At(i, j), squared)
				}
			}
		}
	})
}

func TestSingularOfWhatIsNotFinite(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		if _, ok := Singular(make([]float64, 4), []float64{1, v, 0, 1}, 2); ok {
			t.Errorf("%v is ok", v)
		}
	}
	if values, ok := Singular(nil, nil, 0); !ok || len(values) != 0 {
		t.Errorf("%v of nothing, %v", values, ok)
	}
}

func benchmarked() ([]float64, int) {
	const n = 380
	rng := rand.New(rand.NewPCG(1, 2))
	a := make([]float64, n*n)
	for i := range n {
		for j := range n {
			a[i*n+j] = rng.NormFloat64() * math.Pow(10, -10*float64(j)/n)
		}
	}
	return a, n
}

func BenchmarkSingular(b *testing.B) {
	a, n := benchmarked()
	b.Run("Singular", func(b *testing.B) {
		b.ReportAllocs()
		scratch, vectors := make([]float64, n*n), make([]float64, n*n)
		for b.Loop() {
			copy(scratch, a)
			Singular(vectors, scratch, n)
		}
	})
	b.Run("gonum", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var svd mat.SVD
			svd.Factorize(mat.NewDense(n, n, a), mat.SVDThinV)
		}
	})
}

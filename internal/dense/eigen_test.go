package dense

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// The values are gonum's, the vectors are orthogonal, and each is what the matrix makes of it but for its value.
func TestEigen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data, n := graded(t)
		sign := float64(rapid.IntRange(-1, 1).Draw(t, "sign")) // of the transpose: 0 is of a triangle
		a := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				a.SetSym(i, j, data[i*n+j]+sign*sign*data[j*n+i])
			}
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(a, false) {
			t.Fatal("gonum finds none")
		}
		want := eigen.Values(nil)
		vectors := make([]float64, n*n)
		values, ok := Eigen(vectors, mat.DenseCopyOf(a).RawMatrix().Data, twoMatrices(n), n)
		if !ok {
			t.Fatal("not ok")
		}
		largest := math.Max(math.Abs(want[0]), math.Abs(want[n-1]))
		noise := 1e-14 * float64(n) * math.Max(largest, math.SmallestNonzeroFloat64)
		sorted := append([]float64(nil), values...)
		floats.Argsort(sorted, make([]int, n))
		if !floats.EqualApprox(sorted, want, noise) {
			t.Fatalf("values %v, want %v", sorted, want)
		}
		checkVectors(t, vectors, values, a, 1e-14*float64(n), 2*noise)
	})
}

// checkVectors fails if rows are not orthogonal up to a little, or the matrix does more to them than scale them by their
// values.
func checkVectors(t *rapid.T, rows, values []float64, a *mat.SymDense, little, noise float64) {
	n := len(values)
	v := mat.NewDense(n, n, rows)
	var unit, av mat.Dense
	unit.Mul(v, v.T())
	av.Mul(v, a)
	for i := range n {
		for j := range n {
			is := 0.0
			if i == j {
				is = 1
			}
			if !(math.Abs(unit.At(i, j)-is) <= little) {
				t.Fatalf("vectors %d and %d: %v", i, j, unit.At(i, j))
			}
			if !(math.Abs(av.At(i, j)-values[i]*v.At(i, j)) <= noise) {
				t.Fatalf("A makes %v of vector %d's number %d, %v times %v", av.At(i, j), i, j, values[i], v.At(i, j))
			}
		}
	}
}

func TestEigenOfWhatIsNotFinite(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		if _, ok := Eigen(make([]float64, 4), []float64{1, v, v, 1}, twoMatrices(2), 2); ok {
			t.Errorf("%v is ok", v)
		}
	}
	if values, ok := Eigen(nil, nil, twoMatrices(0), 0); !ok || len(values) != 0 {
		t.Errorf("%v of nothing, %v", values, ok)
	}
}

// Sums are of strips of rows, whatever the number of processors.
func TestEigenDoesNotDependOnProcessors(t *testing.T) {
	const n = 300
	rng := rand.New(rand.NewPCG(7, 8))
	a := make([]float64, n*n)
	for i := range a {
		a[i] = rng.NormFloat64()
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var want []float64
	for _, processors := range []int{1, 3} {
		runtime.GOMAXPROCS(processors)
		vectors := make([]float64, n*n)
		values, ok := Eigen(vectors, slices.Clone(a), twoMatrices(n), n)
		if !ok {
			t.Fatal("not ok")
		}
		if all := append(values, vectors...); want == nil {
			want = all
		} else if !slices.Equal(all, want) {
			t.Errorf("%d processors make other numbers", processors)
		}
	}
}

func twoMatrices(n int) [2][]float64 { return [2][]float64{make([]float64, n*n), make([]float64, n*n)} }

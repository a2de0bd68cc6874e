package dense

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// hardTridiagonal draws a matrix of which many eigenvalues are far apart, close, equal, or without a coupling.
func hardTridiagonal(t *rapid.T) (d, e []float64) {
	n := rapid.IntRange(1, 4*leafRows).Draw(t, "n")
	d, e = make([]float64, n), make([]float64, n-1)
	kind := rapid.SampledFrom([]string{"random", "Wilkinson", "glued", "second difference", "equal", "graded", "none",
		"coupled by little"}).Draw(t, "kind")
	number := rapid.Map(rapid.Float64Range(-1, 1), func(v float64) float64 { return math.Round(v*1e9) / 1e9 })
	glue := math.Pow(10, rapid.Float64Range(-20, 0).Draw(t, "glue"))
	for i := range n {
		off := 1.0
		switch kind {
		case "random":
			d[i], off = number.Draw(t, "d"), number.Draw(t, "e")
		case "Wilkinson":
			d[i] = math.Abs(float64(i) - float64(n-1)/2)
		case "glued":
			d[i] = math.Abs(float64(i%21) - 10)
			if i%21 == 20 {
				off = glue
			}
		case "second difference":
			d[i] = -2
		case "equal":
			d[i], off = 3, glue
		case "graded":
			d[i] = math.Pow(10, -float64(i%40))
			off = d[i] * number.Draw(t, "e")
		case "none":
			d[i], off = number.Draw(t, "d"), 0
		case "coupled by little":
			d[i], off = math.Floor(4*number.Draw(t, "d")), glue*number.Draw(t, "e")
		}
		if i < n-1 {
			e[i] = off
		}
	}
	return d, e
}

// The eigenvectors of a tridiagonal matrix are orthogonal, and the matrix is the product of them and the values, which
// are gonum's, up to some ulps of the largest.
func TestHalves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, e := hardTridiagonal(t)
		n := len(d)
		a := mat.NewSymDense(n, nil)
		for i := range n {
			a.SetSym(i, i, d[i])
			if i < n-1 {
				a.SetSym(i, i+1, e[i])
			}
		}
		q, scratch := make([]float64, n*n), twoMatrices(n)
		scale := math.Pow(2, float64(rapid.SampledFrom([]int{0, -700, 700}).Draw(t, "scale")))
		floats.Scale(scale, d)
		floats.Scale(scale, e)
		if !diagonalizeByHalves(d, e, q, scratch[0], scratch[1]) {
			t.Fatal("not ok")
		}
		floats.Scale(1/scale, d)
		var eigen mat.EigenSym
		if !eigen.Factorize(a, false) {
			t.Fatal("gonum finds none")
		}
		want, sorted := eigen.Values(nil), slices.Sorted(slices.Values(d))
		largest := math.Max(math.Abs(want[0]), math.Abs(want[n-1]))
		noise := 4 * ulp * float64(n+10) * largest
		if !floats.EqualApprox(sorted, want, noise) {
			t.Fatalf("values %v, want %v", sorted, want)
		}
		checkVectors(t, q, d, a, 4*ulp*float64(n+10), 2*noise)
	})
}

// The second difference of n points has the eigenvalues -4 sin²(πk/(2n+2)).
func TestHalvesOfTheSecondDifference(t *testing.T) {
	const n = 500
	d, e := make([]float64, n), make([]float64, n-1)
	for i := range n {
		d[i] = -2
	}
	floats.AddConst(1, e)
	scratch := twoMatrices(n)
	if !diagonalizeByHalves(d, e, make([]float64, n*n), scratch[0], scratch[1]) {
		t.Fatal("not ok")
	}
	slices.Sort(d)
	for k, v := range d {
		half := math.Sin(math.Pi * float64(n-k) / (2*n + 2))
		if want := -4 * half * half; math.Abs(v-want) > 1e-14 {
			t.Errorf("value %d: %v, want %v", k, v, want)
		}
	}
}

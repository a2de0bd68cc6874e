package participation

import (
	"math"
	"math/rand/v2"
	"testing"

	"mafalda/internal/lists"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// randomPSD draws a positive semidefinite matrix, of full or low rank, with diagonal entries of very different size.
func randomPSD(t *rapid.T, n int) *mat.SymDense {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
	rank := rapid.IntRange(1, n).Draw(t, "rank")
	spread := rapid.SampledFrom([]float64{0, 1, 9}).Draw(t, "spread")
	a := mat.NewDense(n, rank, nil)
	for i := range n {
		scale := math.Pow(10, -spread*rng.Float64())
		for j := range rank {
			a.Set(i, j, scale*rng.NormFloat64())
		}
	}
	x := mat.NewSymDense(n, nil)
	x.SymOuterK(1, a)
	return x
}

// TestVectorBoundsContributions: no unit vectors reach more than Squared, Attained is reached, and the bound is no
// worse than the sum of magnitudes or the spectral bound; the gap is closed.
func TestVectorBoundsContributions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		x := randomPSD(t, n)
		all := [][]int{lists.UpTo(n)}
		got, err := VectorSensitivity(x, all, VectorOptions{})
		if err != nil {
			t.Fatal(err)
		}
		sum, err := SumBound(x, all)
		if err != nil {
			t.Fatal(err)
		}
		spectral, err := SpectralBound(x, all)
		if err != nil {
			t.Fatal(err)
		}
		if got.Squared > sum.Squared || got.Squared > spectral || got.Attained > got.Squared || !got.Exact {
			t.Fatalf("%+v, sum %v, spectral %v", got, sum.Squared, spectral)
		}
		ones, err := LowerBound(x, all)
		if err != nil || ones > got.Squared*(1+1e-14) {
			t.Fatalf("equal contributions reach %v (%v), above %v", ones, err, got.Squared)
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "contributions"), 4))
		for range 20 {
			v := mat.NewDense(n, 3, nil)
			for i := range n {
				row := v.RawRowView(i)
				for j := range row {
					row[j] = rng.NormFloat64()
				}
				norm := mat.Norm(v.RowView(i), 2)
				for j := range row {
					row[j] /= norm
				}
			}
			gamma := mat.NewSymDense(n, nil)
			gamma.SymOuterK(1, v)
			var product mat.Dense
			product.MulElem(gamma, x)
			if reached := mat.Sum(&product); reached > got.Squared*(1+1e-12) {
				t.Fatalf("contributions reach %v, above the bound %v", reached, got.Squared)
			}
		}
	})
}

// TestVectorKnownValues: closed forms, among them one where the sum is not attained: three unit columns at 120°, with
// X[i,j] = -1/2, have Σ|X| = 6, but X is PSD with 1ᵀX1 = 0, and Γ = X reaches the maximum ⟨X, X⟩ = 4.5 = 3·λ_max.
func TestVectorKnownValues(t *testing.T) {
	for name, tc := range map[string]struct {
		x    *mat.SymDense
		want float64
	}{
		"one step":     {mat.NewSymDense(1, []float64{3}), 3},
		"two steps":    {mat.NewSymDense(2, []float64{2, -1.5, -1.5, 5}), 10},
		"mercedes":     {mat.NewSymDense(3, []float64{1, -0.5, -0.5, -0.5, 1, -0.5, -0.5, -0.5, 1}), 4.5},
		"zero":         {mat.NewSymDense(3, nil), 0},
		"orthogonal":   {mat.NewSymDense(3, []float64{1, 0, 0, 0, 2, 0, 0, 0, 3}), 6},
		"parallel":     {mat.NewSymDense(3, []float64{1, 2, -3, 2, 4, -6, -3, -6, 9}), 36},
		"not even PSD": {mat.NewSymDense(3, []float64{0, -1, -1, -1, 0, -1, -1, -1, 0}), 3},
		"widely spread": {mat.NewSymDense(3, []float64{1, -1e-9, -1e-9, -1e-9, 1e-18, -1e-19, -1e-9, -1e-19, 1e-18}),
			1 + 4e-9},
		"a small margin": {mat.NewSymDense(3, []float64{1, -0.5, -0.5, -0.5, 1, 0, -0.5, 0, 1}), 5},
	} {
		got, err := VectorSensitivity(tc.x, [][]int{lists.UpTo(tc.x.SymmetricDim())}, VectorOptions{Gap: 1e-9})
		if err != nil || math.Abs(got.Squared-tc.want) > 1e-8*tc.want || got.Squared < tc.want*(1-1e-15) {
			t.Errorf("%s: %+v (%v), want %v", name, got, err, tc.want)
		}
	}
}

// TestVectorOfPatterns is the largest over single patterns.
func TestVectorOfPatterns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, err := NewCyclic(12, rapid.SampledFrom([]int{1, 2, 3, 4, 6, 12}).Draw(t, "k"), 1)
		if err != nil {
			t.Fatal(err)
		}
		x := randomPSD(t, 12)
		got, err := VectorSensitivity(x, c.Patterns(), VectorOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var want float64
		for _, pattern := range c.Patterns() {
			one, err := VectorSensitivity(x, [][]int{pattern}, VectorOptions{})
			if err != nil {
				t.Fatal(err)
			}
			want = math.Max(want, one.Squared)
		}
		if math.Abs(got.Squared-want) > 1e-6*want {
			t.Fatalf("%v, but the largest of single patterns is %v", got.Squared, want)
		}
	})
}

func TestVectorErrors(t *testing.T) {
	x := mat.NewSymDense(2, []float64{1, math.NaN(), math.NaN(), 1})
	for name, f := range map[string]func() error{
		"NaN":      func() error { _, err := VectorSensitivity(x, [][]int{{0, 1}}, VectorOptions{}); return err },
		"outside":  func() error { _, err := VectorSensitivity(x, [][]int{{2}}, VectorOptions{}); return err },
		"spectral": func() error { _, err := SpectralBound(x, [][]int{{0, 1}}); return err },
		"all ones": func() error { _, err := LowerBound(x, [][]int{{0, 1}}); return err },
		"nothing":  func() error { _, err := VectorSensitivity(x, nil, VectorOptions{}); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

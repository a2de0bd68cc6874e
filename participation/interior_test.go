package participation

import (
	"math"
	"math/rand/v2"
	"testing"

	"mafalda/internal/lists"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"
)

// ascent is max ⟨VVᵀ, X⟩ over unit rows of V, as many numbers as there are rows, by one row after the other: what
// contributions reach, by its definition.
func ascent(x interface{ At(i, j int) float64 }, n int, rng *rand.Rand) float64 {
	v := make([][]float64, n)
	for i := range v {
		v[i] = make([]float64, n)
		for a := range v[i] {
			v[i][a] = rng.NormFloat64()
		}
		floats.Scale(1/floats.Norm(v[i], 2), v[i])
	}
	for range 5000 {
		for i := range v {
			field := make([]float64, n)
			for j := range v {
				if j != i {
					floats.AddScaled(field, x.At(i, j), v[j])
				}
			}
			if norm := floats.Norm(field, 2); norm > 0 {
				floats.ScaleTo(v[i], 1/norm, field)
			}
		}
	}
	var total float64
	for i := range v {
		for j := range v {
			total += x.At(i, j) * floats.Dot(v[i], v[j])
		}
	}
	return total
}

// The bound is reached by contributions that are found without it.
func TestVectorSensitivityIsReached(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "n")
		x := randomPSD(t, n)
		got, err := VectorSensitivity(x, [][]int{lists.UpTo(n)}, VectorOptions{})
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "start"), 5))
		reached := ascent(x, n, rng)
		if reached > got.Squared*(1+1e-12) || reached < got.Squared*(1-1e-4) {
			t.Fatalf("contributions reach %v, the bound is %v", reached, got.Squared)
		}
		if math.Abs(got.Attained-reached) > 1e-4*reached {
			t.Fatalf("contributions reach %v, %v is said to be attained", reached, got.Attained)
		}
	})
}

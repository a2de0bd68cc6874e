package bins

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The tangent is the derivative of the noise, by differences on common samples.
func TestTangentIsADerivative(t *testing.T) {
	gram := []float64{1, 0.3, 0.2, 0.3, 1.1, 0.5, 0.2, 0.5, 0.9}
	o := MonteCarlo{Samples: 1 << 15, Seed: 2}
	tangent := func(gram []float64) *Tangent {
		result, err := binsOf(t, 3, gram...).Tangent(t.Context(), 1, 1e-4, o)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	at := tangent(gram)
	inner := func(gram []float64) (sum float64) {
		for i, v := range gram {
			sum += v * at.Weights.At(i/3, i%3)
		}
		return sum
	}
	if square := at.NoiseMultiplier * at.NoiseMultiplier; math.Abs(inner(gram)-square) > 1e-9*square {
		t.Errorf("ν² = %v, but %v by the weights", square, inner(gram))
	}
	for _, change := range [][]float64{
		{1, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 1, 0, 1, 0}, {0, 1, 1, 1, 0, 0, 1, 0, 0},
	} {
		up, down := make([]float64, 9), make([]float64, 9)
		for i, v := range gram {
			up[i], down[i] = v+0.1*change[i], v-0.1*change[i]
		}
		slope := math.Pow(tangent(up).NoiseMultiplier, 2) - math.Pow(tangent(down).NoiseMultiplier, 2)
		if want := inner(change) * 0.2; math.Abs(slope-want) > 0.08*want {
			t.Errorf("in the direction %v: %v, by the weights %v", change, slope, want)
		}
	}
	one, err := binsOf(t, 1, 4).Tangent(t.Context(), 1, 1e-4, o)
	if err != nil || math.Abs(4*one.Weights.At(0, 0)-one.NoiseMultiplier*one.NoiseMultiplier) > 1e-9 {
		t.Errorf("one bin: %+v, %v", mat.Formatted(one.Weights), err)
	}
}

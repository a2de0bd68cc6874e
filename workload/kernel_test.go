package workload

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// TestStepErrorsAreDefinition: by the explicit workload the error of step t is the squared norm of its n rows of
// (I⊗W)W_T (C⁻¹⊗I), so that with C⁻¹⊗I in the order "time, then node" noise is correlated over the steps alone.
func TestStepErrorsAreDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, steps := rapid.IntRange(1, 4).Draw(t, "n"), rapid.IntRange(1, 6).Draw(t, "T")
		s := drawSpec(t, steps)
		if rapid.IntRange(0, 3).Draw(t, "prefix") == 0 {
			s, n = s.Centralized(), 1
		}
		w := randomGossip(t, n, rapid.Bool().Draw(t, "symmetric"))
		a, err := explicitWorkload(networksOf(t, s, w), steps, s, 0)
		if err != nil {
			t.Fatal(err)
		}
		counts, err := s.Weights.Vector(steps)
		if err != nil {
			t.Fatal(err)
		}
		z := mat.NewDense(steps, steps, nil)
		for i := range steps {
			for j := range i + 1 {
				z.Set(i, j, rapid.Float64Range(-1, 1).Draw(t, "z"))
			}
		}
		var noise, eye mat.Dense
		eye.CloneFrom(mat.NewDiagDense(n, ones(n)))
		noise.Kronecker(z, &eye)
		var rows mat.Dense
		rows.Mul(a, &noise)
		k, err := NewKernel(context.Background(), w, steps, Options{Spec: s})
		if err != nil {
			t.Fatal(err)
		}
		y := mat.NewSymDense(steps, nil)
		y.SymOuterK(1, z)
		weights := make([]float64, steps)
		var weighted float64
		got := k.StepErrors(y)
		for step := range steps {
			var want float64
			for row := step * n; row < (step+1)*n; row++ {
				want += mat.Dot(rows.RowView(row), rows.RowView(row))
			}
			want *= counts[step]
			if math.Abs(got[step]-want) > 1e-11*(1+want) {
				t.Fatalf("step %d has the error %v, by definition %v", step, got[step], want)
			}
			weights[step] = rapid.Float64Range(0, 1).Draw(t, "weight")
			weighted += weights[step] * want
		}
		var product mat.Dense
		product.Mul(k.WeightedGram(weights), y)
		if got := mat.Trace(&product); math.Abs(got-weighted) > 1e-11*(1+weighted) {
			t.Fatalf("weighted error %v, by definition %v", got, weighted)
		}
		if d := difference(s, k.WeightedGram(ones(steps)), k.Gram()); d > 1e-12 {
			t.Fatalf("Gram matrices differ by %g", d)
		}
	})
}

func ones(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

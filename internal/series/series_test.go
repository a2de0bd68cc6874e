package series

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	_ "mafalda/internal/seeded"
)

// product is the definition: Σ_{j ≤ i} a_j b_{i-j}.
func product(a, b []float64, count int) []float64 {
	p := make([]float64, count)
	for i := range p {
		for j := range i + 1 {
			if j < len(a) && i-j < len(b) {
				p[i] += a[j] * b[i-j]
			}
		}
	}
	return p
}

func near(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	var worst, largest float64
	for i, v := range a {
		worst, largest = math.Max(worst, math.Abs(v-b[i])), math.Max(largest, math.Abs(v))
	}
	return worst <= 1e-12*(1+largest)
}

func TestArithmeticIsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 12).Draw(t, "count")
		c := rapid.SliceOfN(rapid.Float64Range(-1, 1), 1, count).Draw(t, "c")
		c[0] = 2 + math.Abs(c[0])
		a, b := rapid.Float64Range(-1, 1).Draw(t, "a"), rapid.Float64Range(-1, 1).Draw(t, "b")
		one := make([]float64, count)
		one[0] = 1
		if inverse := Invert(c, count); !near(product(c, inverse, count), one) {
			t.Fatalf("1/c is %v for %v", inverse, c)
		}
		quadratic := append([]float64(nil), c...)
		Multiply(quadratic, a, b)
		if !near(quadratic, product(c, []float64{1, -a, b}, len(c))) {
			t.Fatalf("c·(1 - %v x + %v x²) is %v for %v", a, b, quadratic, c)
		}
		if Divide(quadratic, a, b); !near(quadratic, c) {
			t.Fatalf("multiplied and divided %v is %v", c, quadratic)
		}
		root := PrefixRoot(count)
		for i, v := range product(root, root, count) {
			if math.Abs(v-1) > 1e-13 {
				t.Fatalf("coefficient %d of the square of the root is %v", i, v)
			}
		}
	})
}

package series

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A quotient times the divisor is what was divided, term by term and by blocks, of which the last is not whole; the
// transpose has the same products.
func TestQuotientsByBlocksAreTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		c := make([]float64, rapid.IntRange(1, 40).Draw(t, "coefficients"))
		for i := range c {
			c[i] = 0.9 * rng.NormFloat64() / float64(len(c))
		}
		c[0] = 0.5 + rng.Float64()
		x := make([]float64, rapid.IntRange(1, 200).Draw(t, "length"))
		y := make([]float64, len(x))
		for i := range x {
			x[i], y[i] = rng.NormFloat64(), rng.NormFloat64()
		}
		d := NewDivisor(c)
		if rapid.Bool().Draw(t, "blocks") {
			d.useBlocks(c)
		}
		quotient := slices.Clone(x)
		d.Divide(quotient)
		if got := product(c, quotient, len(x)); !nearAll(got, x, quotient) {
			t.Fatalf("%v times the quotient is %v, not %v", c, got, x)
		}
		back := slices.Clone(y)
		d.DivideBack(back)
		var one, two, size float64
		for i := range x {
			one, two = one+quotient[i]*y[i], two+x[i]*back[i]
			size += math.Abs(quotient[i]*y[i]) + math.Abs(x[i]*back[i])
		}
		if math.Abs(one-two) > 1e-12*size {
			t.Fatalf("⟨x/c, y⟩ = %v, ⟨x, transpose of y⟩ = %v", one, two)
		}
	})
}

// nearAll compares up to rounding of what has the size of numbers.
func nearAll(a, b, sizes []float64) bool {
	largest := 1.0
	for _, v := range sizes {
		largest = math.Max(largest, math.Abs(v))
	}
	for i, v := range a {
		if !(math.Abs(v-b[i]) <= 1e-12*largest) {
			return false
		}
	}
	return true
}

// Where there are many coefficients division by blocks is what Invert has.
func TestInverseOfManyCoefficients(t *testing.T) {
	c := PrefixRoot(fewCoefficients + 50)
	got := make([]float64, 2000)
	got[0] = 1
	d := NewDivisor(c)
	d.Divide(got)
	if want := Invert(c, len(got)); d.block == 0 || !near(got, want) {
		t.Errorf("blocks of %d: not the inverse", d.block)
	}
}

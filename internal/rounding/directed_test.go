package rounding

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// fewBits draws numbers whose products and roots are often exact.
func fewBits(t *rapid.T, name string) float64 {
	if rapid.Bool().Draw(t, name+" is any") {
		return anyNumber(t, name)
	}
	mantissa := rapid.IntRange(-4096, 4096).Draw(t, name)
	return math.Ldexp(float64(mantissa), rapid.IntRange(-1100, 1000).Draw(t, "exponent"))
}

// leastAbove reports whether v is the smallest float64 that is not below the exact number, by a comparison with it.
func leastAbove(v float64, compare func(v float64) int) bool {
	below := math.Nextafter(v, math.Inf(-1))
	return compare(v) >= 0 && (math.IsInf(below, -1) || compare(below) < 0)
}

// Every operation gives the smallest number that is not below the exact result, also where it underflows or
// overflows.
func TestDirectedOperations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := fewBits(t, "x"), fewBits(t, "y")
		product := func(x, y float64) *big.Float { return new(big.Float).SetPrec(4000).Mul(exactly(x), exactly(y)) }
		if p := MulUp(x, y); !leastAbove(p, func(v float64) int { return exactly(v).Cmp(product(x, y)) }) {
			t.Fatalf("%v times %v is %v", x, y, p)
		}
		if y != 0 {
			q := DivUp(x, y)
			if !leastAbove(q, func(v float64) int { // v against x/y
				if math.IsInf(v, 0) {
					return int(math.Copysign(1, v))
				}
				return product(v, math.Abs(y)).Cmp(exactly(math.Copysign(1, y) * x))
			}) {
				t.Fatalf("%v over %v is %v", x, y, q)
			}
		}
		if x = math.Abs(x); x > 0 {
			if s := SqrtUp(x); !leastAbove(s, func(v float64) int { return product(v, v).Cmp(exactly(x)) }) {
				t.Fatalf("the root of %v is %v", x, s)
			}
		}
	})
}

func TestDirectedOperationsOfWhatIsNoNumber(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, pair := range map[string][2]float64{
		"0·∞": {MulUp(0, inf), nan}, "∞·2": {MulUp(inf, 2), inf}, "NaN·1": {MulUp(nan, 1), nan},
		"1/0": {DivUp(1, 0), inf}, "0/0": {DivUp(0, 0), nan}, "1/∞": {DivUp(1, inf), 0}, "∞/2": {DivUp(inf, 2), inf},
		"√∞": {SqrtUp(inf), inf}, "√-1": {SqrtUp(-1), nan}, "√0": {SqrtUp(0), 0},
		"0·5": {MulUp(0, 5), 0}, "0/5": {DivUp(0, 5), 0},
		"-max·2": {MulUp(-math.MaxFloat64, 2), -math.MaxFloat64}, "max·2": {MulUp(math.MaxFloat64, 2), inf},
		"least·least": {MulUp(5e-324, 5e-324), 5e-324}, "-least·least": {MulUp(-5e-324, 5e-324), 0},
	} {
		if have, want := pair[0], pair[1]; have != want && !(math.IsNaN(have) && math.IsNaN(want)) {
			t.Errorf("%s is %v, want %v", name, have, want)
		}
	}
}

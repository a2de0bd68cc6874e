package rounding

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func exactly(x float64) *big.Float { return new(big.Float).SetPrec(4000).SetFloat64(x) }

func TestUpAndDownEncloseTheExactSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Custom(func(t *rapid.T) float64 {
			m := rapid.Float64Range(-1, 1).Draw(t, "mantissa")
			return math.Ldexp(m, rapid.IntRange(-40, 40).Draw(t, "exponent"))
		})
		var sum Sum
		exact := exactly(0)
		for range rapid.IntRange(0, 30).Draw(t, "terms") {
			x, y := number.Draw(t, "x"), number.Draw(t, "y")
			if math.Abs(x) < 1e-60 || math.Abs(y) < 1e-60 {
				continue // products that underflow are outside the promise
			}
			sum.Add(x)
			exact.Add(exact, exactly(x))
			sum.AddProduct(x, y)
			exact.Add(exact, new(big.Float).SetPrec(4000).Mul(exactly(x), exactly(y)))
		}
		if exactly(sum.Up()).Cmp(exact) < 0 || exactly(sum.Down()).Cmp(exact) > 0 {
			t.Fatalf("%v is not within [%v, %v]", exact, sum.Down(), sum.Up())
		}
		if got, _ := exact.Float64(); math.Abs(sum.Up()-got) > 1e-14*math.Abs(got)+1e-30*sum.err {
			t.Fatalf("Up() = %v is far above %v", sum.Up(), got)
		}
	})
}

func TestExactSumsStayExact(t *testing.T) {
	var s Sum
	for range 20 {
		s.AddProduct(1, 1)
	}
	if s.Up() != 20 || s.Down() != 20 || s.Value() != 20 {
		t.Errorf("20 ones: %v, %v, %v", s.Down(), s.Value(), s.Up())
	}
}

func TestCancellation(t *testing.T) {
	var s Sum
	for _, x := range []float64{1e16, 1, -1e16} {
		s.Add(x)
	}
	if s.Value() != 1 || s.Up() < 1 || s.Down() > 1 {
		t.Errorf("1e16 + 1 - 1e16: %v in [%v, %v]", s.Value(), s.Down(), s.Up())
	}
}

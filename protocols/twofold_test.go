package protocols

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// Twofold arithmetic is that of 200 bits, up to 2⁻¹⁰⁰.
func TestTwofold(t *testing.T) {
	const bits = 200
	draw := func(t *rapid.T, name string) (twofold, *big.Float) {
		hi := math.Copysign(rapid.Float64Range(1e-6, 10).Draw(t, name), rapid.Float64Range(-1, 1).Draw(t, "sign"))
		lo := hi * 0x1p-53 * rapid.Float64Range(-0.49, 0.49).Draw(t, "low")
		x := quickSum(hi, lo)
		exact := new(big.Float).SetPrec(bits).SetFloat64(x.hi)
		return x, exact.Add(exact, new(big.Float).SetFloat64(x.lo))
	}
	rapid.Check(t, func(t *rapid.T) {
		x, a := draw(t, "x")
		y, b := draw(t, "y")
		size := math.Abs(x.hi) + math.Abs(y.hi)
		check := func(name string, got twofold, want *big.Float, scale float64) {
			off := new(big.Float).SetPrec(bits).SetFloat64(got.hi)
			off.Add(off, new(big.Float).SetFloat64(got.lo))
			miss, _ := off.Sub(off, want).Float64()
			if math.Abs(miss) > 0x1p-100*scale {
				t.Fatalf("%s of %v and %v is off by %g", name, x, y, miss)
			}
		}
		big2 := func() *big.Float { return new(big.Float).SetPrec(bits) }
		check("sum", x.plus(y), big2().Add(a, b), size)
		check("product", x.times(y), big2().Mul(a, b), size*size)
		if math.Abs(y.hi) > 1e-3 {
			check("quotient", x.over(y), big2().Quo(a, b), math.Abs(x.hi/y.hi)+1e-300)
		}
		if x.hi > 1e-3 {
			check("root", x.root(), big2().Sqrt(a), math.Sqrt(x.hi))
		}
		check("rounding", twofoldOf(a), a, math.Abs(x.hi))
	})
}

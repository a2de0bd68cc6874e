package consensus

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	_ "mafalda/internal/seeded"
)

// Arithmetic in double-doubles agrees with 200 bits up to 2⁻¹⁰⁰.
func TestNumber(t *testing.T) {
	const bits = 200
	draw := func(t *rapid.T, name string) (Number, *big.Float) {
		hi := math.Copysign(rapid.Float64Range(1e-6, 10).Draw(t, name), rapid.Float64Range(-1, 1).Draw(t, "sign"))
		lo := hi * 0x1p-53 * rapid.Float64Range(-0.49, 0.49).Draw(t, "low")
		x := quick(hi, lo)
		exact := new(big.Float).SetPrec(bits).SetFloat64(x.Hi)
		return x, exact.Add(exact, new(big.Float).SetFloat64(x.Lo))
	}
	rapid.Check(t, func(t *rapid.T) {
		x, a := draw(t, "x")
		y, b := draw(t, "y")
		size := math.Abs(x.Hi) + math.Abs(y.Hi)
		check := func(name string, got Number, want *big.Float, scale float64) {
			off := new(big.Float).SetPrec(bits).SetFloat64(got.Hi)
			off.Add(off, new(big.Float).SetFloat64(got.Lo))
			miss, _ := off.Sub(off, want).Float64()
			if math.Abs(miss) > 0x1p-100*scale {
				t.Fatalf("%s of %v and %v is off by %g", name, x, y, miss)
			}
		}
		big2 := func() *big.Float { return new(big.Float).SetPrec(bits) }
		check("sum", x.Plus(y), big2().Add(a, b), size)
		check("product", x.Times(y), big2().Mul(a, b), size*size)
		if math.Abs(y.Hi) > 1e-3 {
			check("quotient", x.Over(y), big2().Quo(a, b), math.Abs(x.Hi/y.Hi)+1e-300)
		}
		if x.Hi > 1e-3 {
			check("root", x.Root(), big2().Sqrt(a), math.Sqrt(x.Hi))
		}
	})
}

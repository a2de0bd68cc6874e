package protocoltest

import (
	"math"
	"math/big"

	"mafalda/internal/exact"
)

// ExactBits is the precision of exact results, some 150 digits.
const ExactBits = 500

// Log1p is log(1 + x), x ≥ 0, with as many bits more as x is small.
func Log1p(x *big.Float) *big.Float {
	bits := uint(ExactBits + max(0, -x.MantExp(nil)))
	return exact.Log(new(big.Float).SetPrec(bits).Add(exact.To(bits, 1), x))
}

// CheckAbove fails if a number is below the exact one, or more than a share above it.
func CheckAbove(t interface{ Fatalf(string, ...any) }, what string, got float64, want *big.Float, share float64) {
	value, _ := want.Float64()
	if new(big.Float).SetPrec(ExactBits).SetFloat64(got).Cmp(want) < 0 {
		t.Fatalf("%s: %.17g is too small: %.17g", what, got, value)
	}
	if got > value*(1+share)+math.Min(1e-18, value*1e-3)+5*math.SmallestNonzeroFloat64 {
		t.Fatalf("%s: %.17g is far above %.17g", what, got, value)
	}
}

// Leakage is ½ log(1 + seen·σ_u²/(σ² + hidden·σ_u²)) to 150 digits.
func Leakage(seen, hidden *big.Rat, valueStd, noiseStd float64) *big.Float {
	square := func(x float64) *big.Rat {
		r := new(big.Rat)
		r.SetFloat64(x)
		return r.Mul(r, r)
	}
	value, noise := square(valueStd), square(noiseStd)
	below := noise.Add(noise, new(big.Rat).Mul(hidden, value))
	x := new(big.Float).SetPrec(ExactBits).SetRat(value.Quo(value.Mul(value, seen), below))
	return x.Quo(Log1p(x), new(big.Float).SetPrec(ExactBits).SetInt64(2))
}

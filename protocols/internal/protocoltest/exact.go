package protocoltest

import (
	"math"
	"math/big"
)

// ExactBits is the precision of exact results, some 150 digits.
const ExactBits = 500

// Log1p is log(1 + x), x ≥ 0, from the series of atanh.
func Log1p(x *big.Float) *big.Float {
	number := func() *big.Float { return new(big.Float).SetPrec(ExactBits) }
	atanh2 := func(num, den *big.Float) *big.Float { // 2 atanh(num/den), of at most a third
		z := number().Quo(num, den)
		square, power, total := number().Mul(z, z), number().Set(z), number()
		for k := int64(1); power.Sign() != 0 && (total.Sign() == 0 ||
			power.MantExp(nil) > total.MantExp(nil)-ExactBits); k += 2 {
			total.Add(total, number().Quo(power, number().SetInt64(k)))
			power.Mul(power, square)
		}
		return total.Mul(total, number().SetInt64(2))
	}
	two := number().SetInt64(2)
	if x.Cmp(number().SetInt64(1)) < 0 {
		return atanh2(x, number().Add(two, x))
	}
	fraction := number()
	exponent := number().Add(x, number().SetInt64(1)).MantExp(fraction)
	fraction.Mul(fraction, two) // in [1, 2)
	one := number().SetInt64(1)
	log := atanh2(number().Sub(fraction, one), number().Add(fraction, one))
	log2 := atanh2(one, number().SetInt64(3))
	return log.Add(log, log2.Mul(log2, number().SetInt64(int64(exponent-1))))
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

// Package exact is arithmetic with 120 digits and more, for tests: what is promised about rounding is held against it.
package exact

import (
	"math"
	"math/big"
	"sync"
)

// Bits is the precision of Of.
const Bits = 400

// Of returns v with Bits bits.
func Of(v float64) *big.Float { return To(Bits, v) }

// To returns v as a number of this precision in bits.
func To(bits uint, v float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(v) }

// Plus returns x + y.
func Plus(x, y *big.Float) *big.Float { return new(big.Float).Add(x, y) }

// Minus returns x - y.
func Minus(x, y *big.Float) *big.Float { return new(big.Float).Sub(x, y) }

// Times returns x·y.
func Times(x, y *big.Float) *big.Float { return new(big.Float).Mul(x, y) }

// Over returns x/y.
func Over(x, y *big.Float) *big.Float { return new(big.Float).Quo(x, y) }

// negligible reports whether a term of a sum is below its last bit.
func negligible(term, sum *big.Float) bool {
	return term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-int(sum.Prec())-2
}

// Log returns log x for x > 0: the root of e^y - x, by Halley's steps from its first digits.
func Log(x *big.Float) *big.Float {
	bits := x.Prec() + 40
	x = new(big.Float).SetPrec(bits).Set(x)
	var m big.Float
	e := x.MantExp(&m)
	first, _ := m.Float64()
	y := To(bits, math.Log(first)+float64(e)*math.Ln2)
	for right := uint(30); right < bits; right *= 3 {
		power := Exp(y)
		step := Over(Minus(x, power), Plus(x, power))
		y = Plus(y, Plus(step, step))
	}
	return y
}

// Exp returns e^x: the Taylor series of e^(x/2^k), squared k times.
func Exp(x *big.Float) *big.Float {
	k := max(0, x.MantExp(nil)) + 12
	bits := x.Prec() + uint(k) + 40
	y := new(big.Float).SetPrec(bits).SetMantExp(x, -k)
	sum, term := To(bits, 1), To(bits, 1)
	for n := 1.0; ; n++ {
		term = Over(Times(term, y), To(bits, n))
		if negligible(term, sum) {
			break
		}
		sum = Plus(sum, term)
	}
	for range k {
		sum = Times(sum, sum)
	}
	return sum
}

// Pi is by the arithmetic-geometric mean (Gauss, Salamin & Brent).
func Pi(bits uint) *big.Float {
	a, b, t, weight := To(bits, 1), To(bits, 0.5), To(bits, 0.25), 1.0
	for b.Sqrt(b); ; weight *= 2 {
		mean := Over(Plus(a, b), To(bits, 2))
		off := Minus(a, mean)
		t = Minus(t, Times(To(bits, weight), Times(off, off)))
		if b = Times(a, b); negligible(off, mean) {
			return Over(Times(mean, mean), t)
		}
		a, b = mean, b.Sqrt(b)
	}
}

var pi = sync.OnceValue(func() *big.Float { return Pi(3000) })

// Tail returns 1-Φ(x): for x ≤ 40 by the series Φ(x) = ½ + φ(x)(x + x³/3 + x⁵/15 + ...), with as many bits
// more as cancel, and above by Laplace's continued fraction.
func Tail(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		return Minus(Of(1), Tail(new(big.Float).Neg(x)))
	}
	at, _ := x.Float64()
	bits := uint(Bits + 40)
	if at <= 40 {
		bits += uint(at * at)
	}
	x = new(big.Float).SetPrec(bits).Set(x)
	square := Times(x, x)
	half := new(big.Float).Neg(square)
	circle := Times(To(bits, 2), new(big.Float).SetPrec(bits).Set(pi()))
	density := Over(Exp(half.SetMantExp(half, -1)), circle.Sqrt(circle))
	if at > 40 {
		fraction := new(big.Float).Set(x)
		for k := 300.0; k >= 1; k-- {
			fraction = Plus(x, Over(To(bits, k), fraction))
		}
		return Over(density, fraction)
	}
	sum, term := new(big.Float).Set(x), new(big.Float).Set(x)
	for n := 3.0; !negligible(term, sum); n += 2 {
		term = Over(Times(term, square), To(bits, n))
		sum = Plus(sum, term)
	}
	return Minus(To(bits, 0.5), Times(density, sum))
}

// IsBelow reports whether v, which is to be a bound, is less than the exact number.
func IsBelow(v float64, x *big.Float) bool { return !math.IsInf(v, 1) && To(2000, v).Cmp(x) < 0 }

// Excess returns by how much v is above the exact number, relative to it.
func Excess(v float64, x *big.Float) float64 {
	r, _ := Over(Minus(Of(v), x), x).Float64()
	return r
}

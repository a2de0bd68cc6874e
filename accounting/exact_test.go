package accounting

import (
	"math"
	"math/big"
	"sync"
)

// Arithmetic with 120 digits and more, to hold what is promised about rounding against.

const exactBits = 400

func exact(v float64) *big.Float { return exactTo(exactBits, v) }

func exactTo(bits uint, v float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(v) }

func plus(x, y *big.Float) *big.Float  { return new(big.Float).Add(x, y) }
func minus(x, y *big.Float) *big.Float { return new(big.Float).Sub(x, y) }
func times(x, y *big.Float) *big.Float { return new(big.Float).Mul(x, y) }
func over(x, y *big.Float) *big.Float  { return new(big.Float).Quo(x, y) }

// negligible reports whether a term of a sum is below its last bit.
func negligible(term, sum *big.Float) bool {
	return term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-int(sum.Prec())-2
}

// exactLog returns log x for x > 0: x = 2^e·m, m^(1/2⁸) near 1, and the series of 2·artanh.
func exactLog(x *big.Float) *big.Float {
	bits := x.Prec() + 40
	m := new(big.Float).SetPrec(bits)
	e := x.MantExp(m)
	log := exactLogNear1(m.SetPrec(bits))
	if e == 0 {
		return log
	}
	return plus(log, times(exactTo(bits, float64(-e)), exactLogNear1(exactTo(bits, 0.5))))
}

func exactLogNear1(m *big.Float) *big.Float {
	const roots = 8
	r := new(big.Float).Set(m)
	for range roots {
		r.Sqrt(r)
	}
	one := exactTo(m.Prec(), 1)
	y := over(minus(r, one), plus(r, one))
	square, power := times(y, y), new(big.Float).Set(y)
	sum := new(big.Float).Set(y)
	for n := 3.0; ; n += 2 {
		power = times(power, square)
		term := over(power, exactTo(m.Prec(), n))
		if negligible(term, sum) {
			return new(big.Float).SetMantExp(sum, roots+1)
		}
		sum = plus(sum, term)
	}
}

// exactExp returns e^x: the Taylor series of e^(x/2^k), squared k times.
func exactExp(x *big.Float) *big.Float {
	k := max(0, x.MantExp(nil)) + 12
	bits := x.Prec() + uint(k) + 40
	y := new(big.Float).SetPrec(bits).SetMantExp(x, -k)
	sum, term := exactTo(bits, 1), exactTo(bits, 1)
	for n := 1.0; ; n++ {
		term = over(times(term, y), exactTo(bits, n))
		if negligible(term, sum) {
			break
		}
		sum = plus(sum, term)
	}
	for range k {
		sum = times(sum, sum)
	}
	return sum
}

// exactPi is by Machin's formula.
func exactPi(bits uint) *big.Float {
	arctan := func(inverse float64) *big.Float {
		power, square := over(exactTo(bits, 1), exactTo(bits, inverse)), exactTo(bits, -inverse*inverse)
		sum := new(big.Float).Set(power)
		for n := 3.0; ; n += 2 {
			power = over(power, square)
			term := over(power, exactTo(bits, n))
			if negligible(term, sum) {
				return sum
			}
			sum = plus(sum, term)
		}
	}
	return minus(times(exactTo(bits, 16), arctan(5)), times(exactTo(bits, 4), arctan(239)))
}

var pi = sync.OnceValue(func() *big.Float { return exactPi(3000) })

// exactTail returns 1-Φ(x): for x ≤ 40 by the series Φ(x) = ½ + φ(x)(x + x³/3 + x⁵/15 + ...), with as many bits
// more as cancel, and above by Laplace's continued fraction.
func exactTail(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		return minus(exact(1), exactTail(new(big.Float).Neg(x)))
	}
	at, _ := x.Float64()
	bits := uint(exactBits + 40)
	if at <= 40 {
		bits += uint(at * at)
	}
	x = new(big.Float).SetPrec(bits).Set(x)
	square := times(x, x)
	half := new(big.Float).Neg(square)
	circle := times(exactTo(bits, 2), new(big.Float).SetPrec(bits).Set(pi()))
	density := over(exactExp(half.SetMantExp(half, -1)), circle.Sqrt(circle))
	if at > 40 {
		fraction := new(big.Float).Set(x)
		for k := 300.0; k >= 1; k-- {
			fraction = plus(x, over(exactTo(bits, k), fraction))
		}
		return over(density, fraction)
	}
	sum, term := new(big.Float).Set(x), new(big.Float).Set(x)
	for n := 3.0; !negligible(term, sum); n += 2 {
		term = over(times(term, square), exactTo(bits, n))
		sum = plus(sum, term)
	}
	return minus(exactTo(bits, 0.5), times(density, sum))
}

// exactDelta returns δ(ε) of μ-GDP.
func exactDelta(mu, epsilon float64) *big.Float {
	m, e := exact(mu), exact(epsilon)
	middle, shift := over(e, m), over(m, exact(2))
	return minus(exactTail(minus(middle, shift)), times(exactExp(e), exactTail(plus(middle, shift))))
}

// exactRDPLogDelta returns δ = exp((α-1)(ρ-ε)) (1-1/α)^α / (α-1), or 1 if that is larger, as its logarithm.
func exactRDPLogDelta(alpha float64, rho *big.Float, epsilon float64) *big.Float {
	a := exact(alpha)
	less := minus(a, exact(1))
	l := minus(times(less, plus(minus(rho, exact(epsilon)), exactLog(over(less, a)))), exactLog(a))
	if l.Sign() > 0 {
		return exact(0)
	}
	return l
}

// exactRDPEpsilon returns ε = ρ + log((α-1)/α) - (log δ + log α)/(α-1), or 0 if that is negative.
func exactRDPEpsilon(alpha float64, rho *big.Float, delta float64) *big.Float {
	a := exact(alpha)
	less := minus(a, exact(1))
	e := minus(plus(rho, exactLog(over(less, a))), over(plus(exactLog(exact(delta)), exactLog(a)), less))
	if e.Sign() < 0 {
		return exact(0)
	}
	return e
}

// below reports whether v, which is to be a bound, is less than the exact number.
func below(v float64, x *big.Float) bool { return !math.IsInf(v, 1) && exactTo(2000, v).Cmp(x) < 0 }

// excess returns by how much v is above the exact number, relative to it.
func excess(v float64, x *big.Float) float64 {
	r, _ := over(minus(exact(v), x), x).Float64()
	return r
}

package modular

import (
	"math"
	"math/bits"
)

// Prime is 2⁶¹-1. Ranks of rational matrices are counted modulo it: such a rank is never too large, and it is too
// small only if the prime divides a minor that is not zero, which for numbers that have nothing to do with it has a
// chance of some 2⁻⁵⁰.
const Prime = 1<<61 - 1

// Mul returns a·b; like all functions here it takes and returns numbers below the prime.
func Mul(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	x := lo&Prime + (lo>>61 | hi<<3)
	if x >= Prime {
		x -= Prime
	}
	return x
}

// Add returns a + b.
func Add(a, b uint64) uint64 {
	if a += b; a >= Prime {
		a -= Prime
	}
	return a
}

// Neg returns -a.
func Neg(a uint64) uint64 {
	if a == 0 {
		return 0
	}
	return Prime - a
}

// Inverse returns 1/a, a ≠ 0, by Fermat's little theorem.
func Inverse(a uint64) uint64 {
	result := uint64(1)
	for e := uint64(Prime - 2); e > 0; e >>= 1 {
		if e&1 == 1 {
			result = Mul(result, a)
		}
		a = Mul(a, a)
	}
	return result
}

// Residue returns a finite floating-point number, which is a whole number times a power of two, modulo the prime: 2⁶¹
// is 1.
func Residue(v float64) uint64 {
	fraction, exponent := math.Frexp(math.Abs(v))
	whole := uint64(math.Ldexp(fraction, 53))
	exponent = ((exponent-53)%61 + 61) % 61
	x := Mul(whole, 1<<exponent)
	if v < 0 {
		x = Neg(x)
	}
	return x
}

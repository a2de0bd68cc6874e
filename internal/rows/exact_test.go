package rows

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// digits is the precision of the reference, in bits: 54 are lost in the smallest probabilities.
const digits = 300

func number(v float64) *big.Float { return new(big.Float).SetPrec(digits).SetFloat64(v) }

// pi to 99 digits (OEIS A000796).
const pi = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798"

// density returns exp(-x²/2)/√2π, by the series of exp(x²/2).
func density(x *big.Float) *big.Float {
	half := number(0).Mul(x, x)
	half.Quo(half, number(2))
	sum, term := number(1), number(1)
	for n := 1; term.Sign() != 0 && term.MantExp(nil) > sum.MantExp(nil)-digits; n++ {
		term.Mul(term, half)
		term.Quo(term, number(float64(n)))
		sum.Add(sum, term)
	}
	p, _, err := big.ParseFloat(pi, 10, digits, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	p.Mul(p, number(2))
	return sum.Quo(number(1), sum.Mul(sum, p.Sqrt(p)))
}

// probability returns the probability of a normal number above x ≥ 0: ½ - φ(x)(x + x³/3 + x⁵/(3·5) + ...), all terms positive.
func probability(x *big.Float) *big.Float {
	square := number(0).Mul(x, x)
	sum, term := number(0).Set(x), number(0).Set(x)
	for n := 3; term.Sign() != 0 && term.MantExp(nil) > sum.MantExp(nil)-digits; n += 2 {
		term.Mul(term, square)
		term.Quo(term, number(float64(n)))
		sum.Add(sum, term)
	}
	sum.Mul(sum, density(x))
	return sum.Sub(number(0.5), sum)
}

// TestNormalIsExact: the distance to the quantile, relative to it, for every kind of number: near zero, central, in the
// tails, far out, and at the edges between them. docs/noise.md has the bound.
func TestNormalIsExact(t *testing.T) {
	const bound = 8e-16
	rng := rand.New(rand.NewPCG(7, 8))
	all := places()
	for range 300 {
		all = append(all, rng.Uint64(), rng.Uint64()>>(12+rng.IntN(52)), 1<<52-1-rng.Uint64()>>(12+rng.IntN(52)))
	}
	worst := 0.0
	for _, b := range all {
		k := b & (1<<52 - 1)
		p := number(float64(k))
		p.Add(p, number(0.5))
		p.SetMantExp(p, -53)
		z := number(math.Abs(normal(b)))
		wrong := probability(z) // the quantile is z + (Φ̄(z) - p)/φ(z), but for the square of that
		wrong.Sub(wrong, p)
		wrong.Quo(wrong, density(z))
		wrong.Quo(wrong, z)
		distance, _ := wrong.Float64()
		if worst = math.Max(worst, math.Abs(distance)); math.Abs(distance) > bound {
			t.Errorf("bits %#x: %v is %v of itself off the quantile", b, normal(b), distance)
		}
	}
	t.Logf("at most %.3g off", worst)
}

package gaussian

import "math"

// fractionFrom is where Mills' ratio is computed by its continued fraction: below it, erfc is as good; above it,
// fractionTerms are plenty.
const (
	fractionFrom  = 5.0
	fractionTerms = 80
)

// Mills returns (1-Φ(x))/φ(x), Mills' ratio of the standard normal: √(π/2)·erfcx(x/√2), where erfcx is the scaled
// complementary error function. To about 1e-14 relative for x ≥ -5. For x < -37 it is +Inf or close to it.
func Mills(x float64) float64 {
	if x < fractionFrom {
		return math.Sqrt(math.Pi/2) * math.Erfc(x/math.Sqrt2) * math.Exp(x*x/2)
	}
	return 1 / (x + millsTail(x))
}

// MillsSlope returns 1 - x·Mills(x) = -mills'(x) > 0 without cancellation for large x: with the tail c of the continued
// fraction 1/mills = x + c, it is c/(x + c).
func MillsSlope(x float64) float64 {
	if x < fractionFrom {
		return 1 - x*Mills(x)
	}
	c := millsTail(x)
	return c / (x + c)
}

// millsTail returns the tail c = 1/(x + 2/(x + 3/(x + ...))) of the continued fraction 1/Mills(x) = x + c (Laplace).
func millsTail(x float64) float64 {
	f := x
	for k := fractionTerms; k >= 2; k-- {
		f = x + float64(k)/f
	}
	return 1 / f
}

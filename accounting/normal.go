package accounting

import "math"

// mills returns (1-Φ(x))/φ(x), Mills' ratio of the standard normal, to about 1e-15 relative for x ≥ 0. For x < -37 it is
// +Inf or close to it.
func mills(x float64) float64 {
	if x < 8 {
		return math.Sqrt(math.Pi/2) * math.Erfc(x/math.Sqrt2) * math.Exp(x*x/2)
	}
	return 1 / millsFraction(x)
}

// millsFraction returns 1/mills(x) = x + 1/(x + 2/(x + 3/(x + ...))) for x ≥ 8, where forty terms are plenty.
func millsFraction(x float64) float64 {
	f := x
	for k := 40; k >= 1; k-- {
		f = x + float64(k)/f
	}
	return f
}

// millsSlope returns 1 - x·mills(x) = -mills'(x) > 0 without cancellation for large x: with the tail c of the continued
// fraction 1/mills = x + c, it is c/(x + c).
func millsSlope(x float64) float64 {
	if x < 8 {
		return 1 - x*mills(x)
	}
	f := millsFraction(x)
	tail := x
	for k := 40; k >= 2; k-- {
		tail = x + float64(k)/tail
	}
	return (1 / tail) / f
}

// logTail returns log(1 - Φ(x)).
func logTail(x float64) float64 {
	if x < 0 {
		return math.Log1p(-0.5 * math.Erfc(-x/math.Sqrt2))
	}
	return -x*x/2 - math.Log(2*math.Pi)/2 + math.Log(mills(x))
}

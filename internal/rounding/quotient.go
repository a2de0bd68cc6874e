package rounding

import "math"

// QuotientUp returns a/b for a ≥ 0 and b > 0, rounded up: a guarantee that is a quotient is never printed too good.
func QuotientUp(a, b float64) float64 {
	q := a / b
	if math.FMA(q, b, -a) < 0 || q == 0 && a > 0 {
		return math.Nextafter(q, math.Inf(1))
	}
	return q
}

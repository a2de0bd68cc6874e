package rounding

import "math"

// Bisect narrows low < high, with left(low) and not left(high), down to neighbouring numbers.
func Bisect(low, high float64, left func(v float64) bool) (float64, float64) {
	for {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			return low, high
		}
		if left(middle) {
			low = middle
		} else {
			high = middle
		}
	}
}

// Narrow is Bisect for 0 ≤ low < high down to a width relative to high.
func Narrow(low, high, width float64, left func(v float64) bool) (float64, float64) {
	for high-low > width*high {
		if middle := (low + high) / 2; left(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low, high
}

// Few rounds a number down to twelve bits, so that multiples of it by whole numbers below 2⁴¹ are exact.
func Few(v float64) float64 {
	fraction, exponent := math.Frexp(v)
	return math.Ldexp(math.Floor(fraction*(1<<12)), exponent-12)
}

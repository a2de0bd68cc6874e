package rounding

import "math"

// Above returns a number that is not below the exact value of the positive number that a dozen roundings led to x,
// and 0 for 0.
func Above(x float64) float64 {
	if x == 0 {
		return 0
	}
	return math.Nextafter(x+x*0x1p-49, math.Inf(1))
}

// Below returns a number that is not above that value, and 0 for 0.
func Below(x float64) float64 {
	if x == 0 {
		return 0
	}
	return math.Nextafter(x-x*0x1p-49, 0)
}

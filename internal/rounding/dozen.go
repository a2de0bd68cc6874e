package rounding

import "math"

// Above returns an upper bound of a positive number that was computed as x, with a dozen roundings at most. It returns 0 for
// x = 0.
func Above(x float64) float64 {
	if x == 0 {
		return 0
	}
	return math.Nextafter(x+x*0x1p-49, math.Inf(1))
}

// Below returns a lower bound of a positive number that was computed as x, with a dozen roundings at most. It returns 0 for
// x = 0.
func Below(x float64) float64 {
	if x == 0 {
		return 0
	}
	return math.Nextafter(x-x*0x1p-49, 0)
}

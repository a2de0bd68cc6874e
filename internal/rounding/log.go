package rounding

import "math"

// Log is math.Log, for subnormal numbers too: on amd64 math.Log(5e-324) is -709.1, not -744.4 (Go 1.26), and an ε for
// such a δ would come out too small.
func Log(x float64) float64 {
	if x >= 0x1p-1022 || x <= 0 || x != x {
		return math.Log(x)
	}
	fraction, exponent := math.Frexp(x) // exact
	return math.Log(fraction) + float64(exponent)*math.Ln2
}

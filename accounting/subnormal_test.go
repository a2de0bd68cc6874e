package accounting

import (
	"math"
	"testing"
)

// For subnormal δ the logarithm was that of a δ up to 10^16 times as large, and ε too small.
func TestSubnormalDelta(t *testing.T) {
	for name, epsilon := range map[string]func(mu, delta float64) (float64, error){
		"exactly": Epsilon,
		"by RDP":  func(mu, delta float64) (float64, error) { e, _, err := EpsilonByRDP(mu, delta); return e, err },
	} {
		least, err := epsilon(1, 0x1p-1022)
		for exponent := -1030; exponent >= -1074; exponent -= 4 {
			e, failed := epsilon(1, math.Ldexp(1, exponent))
			if err != nil || failed != nil || !(e > least+0.01) {
				t.Fatalf("%s: epsilon for 2^%d is %v, for a larger delta %v (%v, %v)", name, exponent, e, least, err, failed)
			}
			least = e
		}
	}
}

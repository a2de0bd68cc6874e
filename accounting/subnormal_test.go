package accounting

import (
	"math"
	"testing"
)

// For subnormal δ the logarithm belonged to a δ up to 10^16 times as large, and ε was too small.
func TestSubnormalDelta(t *testing.T) {
	for name, epsilon := range map[string]func(mu, delta float64) (float64, error){
		"exactly": Epsilon,
		"by RDP":  func(mu, delta float64) (float64, error) { e, _, err := EpsilonByRDP(mu, delta); return e, err },
	} {
		least, err := epsilon(1, 0x1p-1022)
		for exponent := -1030; exponent >= -1074; exponent -= 4 {
			e, failed := epsilon(1, math.Ldexp(1, exponent))
			if err != nil || failed != nil || !(e > least+0.01) {
				t.Fatalf("%s: epsilon for 2^%d is %v, for a larger delta %v (%v, %v)", name, exponent, e, least, err,
					failed)
			}
			least = e
		}
	}
}

// For tiny μ the integral over Mills' ratio underflowed, and log δ was -1.8e308 where it is -8.4e75.
func TestLogDeltaOfTinyMu(t *testing.T) {
	for _, v := range []struct{ mu, epsilon float64 }{{1e-267, 1.3e-229}, {1e-277, 2.3e-141}, {1e-314, 3e-174}} {
		l, err := LogDelta(v.mu, v.epsilon)
		x := v.epsilon / v.mu // the leading term of log δ is -x²/2
		if err != nil || !(l >= -x*x/2*(1+1e-9)) || !(l <= -x*x/2*(1-1e-9)) {
			t.Errorf("log delta for mu = %v and epsilon = %v is %v, not %v (%v)", v.mu, v.epsilon, l, -x*x/2, err)
		}
	}
}

package accounting

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestRDPOfGaussian(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mu, alpha := drawMu(t), 1+math.Exp(rapid.Float64Range(-5, 8).Draw(t, "log order"))
		rho, err := RDP(mu, alpha)
		if err != nil || !near(rho, alpha*mu*mu/2, 1e-15) {
			t.Fatalf("RDP(%v, %v) = %v, %v", mu, alpha, rho, err)
		}
		if back, err := MuFromRDP(alpha, rho); err != nil || !near(back, mu, 1e-15) || back < mu {
			t.Fatalf("μ = %v came back as %v, %v", mu, back, err)
		}
	})
}

// Golden values: mpmath with 50 digits.
func TestRDPGolden(t *testing.T) {
	for _, tc := range []struct{ alpha, rho, delta, want float64 }{
		{2, 0.5, 1e-5, 10.626631103850337719},
		{32, 1.25, 1e-6, 1.5521150002391147828},
		{1.001, 3, 0.25, 1381.3861060076444333},
		{1e6, 10, 1e-9, 10.000005907761686744},
		{47.164, 0.02, 0.011, 0.012784554029792900575}, // here and below the formula alone would come out too small
		{78.059, 0.03, 0.021, 0.010692726754375683962},
	} {
		if got, err := EpsilonFromRDP(tc.alpha, tc.rho, tc.delta); err != nil || !near(got, tc.want, 1e-12) ||
			got < tc.want {
			t.Errorf("EpsilonFromRDP(%v, %v, %v) = %.17g, %v; want %.17g", tc.alpha, tc.rho, tc.delta, got, err,
				tc.want)
		}
	}
	if got, err := EpsilonFromRDP(2, 0, 0.9); err != nil || got != 0 {
		t.Errorf("a bound below zero became %v, %v", got, err)
	}
}

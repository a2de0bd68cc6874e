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
	for _, tc := range []struct{ alpha, rho, epsilon, want float64 }{
		{2, 0.5, 3, 0.020521249655974698792},
		{32, 1.25, 2, 9.3339720992526340434e-13},
		{1.5, 0.1, 10, 0.0027264053679789601775},
		{1000, 1, 1.5, 4.3234359263503204031e-221},
		{58.781, 0.04, 9.28, 8.5488176004921728701e-235},
		{124.774, 0.05, 4.4, 4.36352812117957983e-237},
	} {
		if got, err := DeltaFromRDP(tc.alpha, tc.rho, tc.epsilon); err != nil || !near(got, tc.want, 1e-9) ||
			got < tc.want {
			t.Errorf("DeltaFromRDP(%v, %v, %v) = %.17g, %v; want %.17g", tc.alpha, tc.rho, tc.epsilon, got, err,
				tc.want)
		}
	}
	if got, err := EpsilonFromRDP(2, 0, 0.9); err != nil || got != 0 {
		t.Errorf("a bound below zero became %v, %v", got, err)
	}
	if got, err := DeltaFromRDP(2, 5, 0); err != nil || got != 1 {
		t.Errorf("a bound above one became %v, %v", got, err)
	}
}

// What one gives the other takes.
func TestRDPConversionsAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alpha := 1 + math.Exp(rapid.Float64Range(-3, 5).Draw(t, "log order"))
		rho := math.Exp(rapid.Float64Range(-5, 3).Draw(t, "log rho"))
		delta := math.Exp(rapid.Float64Range(-300, -1).Draw(t, "log delta"))
		epsilon, err := EpsilonFromRDP(alpha, rho, delta)
		if err != nil {
			t.Fatal(err)
		}
		back, err := DeltaFromRDP(alpha, rho, epsilon)
		if err != nil || back > delta*(1+1e-9) || (epsilon > 0 && !near(back, delta, 1e-9)) {
			t.Fatalf("δ = %v came back as %v for ε = %v (%v)", delta, back, epsilon, err)
		}
	})
}

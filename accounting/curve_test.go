package accounting

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	_ "mafalda/internal/seeded"
)

// Renyi DP loses something, never gains: its ε is above the exact one, but not by orders of magnitude.
func TestRDPIsAnUpperBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mu := math.Exp(rapid.Float64Range(math.Log(1e-3), math.Log(100)).Draw(t, "log mu"))
		delta := math.Exp(rapid.Float64Range(-60, -2).Draw(t, "log delta"))
		exact, err := Epsilon(mu, delta)
		if err != nil {
			t.Fatal(err)
		}
		bound, alpha, err := EpsilonByRDP(mu, delta)
		if err != nil || bound < exact || alpha <= 1 || bound > 2*exact+3*mu*math.Sqrt(-math.Log(delta)) {
			t.Fatalf("μ = %v, δ = %v: ε = %v by RDP of order %v, exactly %v (%v)", mu, delta, bound, alpha, exact, err)
		}
		// no order on a fine grid does better than the one that was found
		for l := -5.0; l < 12; l += 0.01 {
			a := 1 + math.Exp(l)
			if e, err := EpsilonFromRDP(a, a*mu*mu/2, delta); err != nil || e < bound*(1-1e-6)-1e-12 {
				t.Fatalf("order %v gives ε = %v, the best is %v of order %v (%v)", a, e, bound, alpha, err)
			}
		}
	})
}

package accounting

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// optimalDelta is the exact δ(ε′) of k-fold composition (Kairouz, Oh & Viswanath, Theorem 3.3, by its randomized
// response): the sum of the binomial terms whose likelihood ratio is above e^ε′.
func optimalDelta(epsilon float64, k int, total float64) float64 {
	p := 1 / (1 + math.Exp(-epsilon))
	var delta float64
	for i := range k + 1 { // i answers with the larger probability
		choose, _ := math.Lgamma(float64(k + 1))
		a, _ := math.Lgamma(float64(i + 1))
		b, _ := math.Lgamma(float64(k - i + 1))
		logP := choose - a - b + float64(i)*math.Log(p) + float64(k-i)*math.Log1p(-p)
		logQ := choose - a - b + float64(k-i)*math.Log(p) + float64(i)*math.Log1p(-p)
		delta += math.Max(0, math.Exp(logP)-math.Exp(total+logQ))
	}
	return delta
}

// Both compositions hold for the mechanism that is the worst of all, randomized response.
func TestPureCompositionHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		epsilon := rapid.Float64Range(0, 3).Draw(t, "epsilon")
		k := rapid.IntRange(1, 60).Draw(t, "k")
		delta := math.Pow(10, rapid.Float64Range(-9, -1).Draw(t, "logDelta"))
		basic, err := ComposeBasic(epsilon, k)
		if err != nil {
			t.Fatal(err)
		}
		advanced, err := ComposeAdvanced(epsilon, k, delta)
		if err != nil {
			t.Fatal(err)
		}
		if d := optimalDelta(epsilon, k, basic); d > 1e-12 {
			t.Fatalf("basic composition to %g leaves delta %g", basic, d)
		}
		if d := optimalDelta(epsilon, k, advanced); d > delta*(1+1e-9) {
			t.Fatalf("advanced composition to %g leaves delta %g, more than %g", advanced, d, delta)
		}
	})
}

func TestPureCompositionRefuses(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta float64
		rounds         int
	}{{-1, 0.1, 3}, {math.NaN(), 0.1, 3}, {1, 0, 3}, {1, 1, 3}, {1, math.NaN(), 3}, {1, 0.1, -1}, {1e308, 0.1, 100}} {
		if _, err := ComposeAdvanced(c.epsilon, c.rounds, c.delta); err == nil {
			t.Errorf("ComposeAdvanced(%v, %d, %v) must fail", c.epsilon, c.rounds, c.delta)
		}
	}
	if _, err := ComposeBasic(1e308, 100); err == nil {
		t.Error("an epsilon that overflows")
	}
	if v, err := ComposeBasic(2.5, 1); v != 2.5 || err != nil {
		t.Errorf("one round: %v, %v", v, err)
	}
}

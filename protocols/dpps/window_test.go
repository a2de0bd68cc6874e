package dpps

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The window is the definition: all lags, with coefficients that are products beyond the last one.
func TestWindowIsItsSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tau := []float64{1}
		for range rapid.IntRange(1, 5).Draw(t, "lags") {
			tau = append(tau, rapid.Float64Range(0, 1).Draw(t, "tau"))
		}
		last := len(tau) - 1
		var coefficient func(s int) float64
		coefficient = func(s int) float64 {
			if s < last {
				return tau[s]
			}
			return tau[last] * coefficient(s-last)
		}
		w := &window{tau: tau}
		var added []float64
		for range 20 {
			now := rapid.Float64Range(0, 10).Draw(t, "now")
			want := now
			for k, m := range added {
				want += coefficient(len(added)-k) * m
			}
			if got := w.estimate(now); math.Abs(got-2*want) > 1e-9*want {
				t.Fatalf("round %d: %g, must be %g", len(added), got, 2*want)
			}
			with := now + rapid.Float64Range(0, 10).Draw(t, "noise")
			w.finish(with)
			added = append(added, with)
		}
	})
}

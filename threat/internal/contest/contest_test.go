package contest

import (
	"math"
	"testing"
)

// The limits of Clopper and Pearson by their definition: the binomial tail is the share.
func TestBinomialLimits(t *testing.T) {
	tail := func(k, n int, p float64) float64 { // of at least k
		sum := 0.0
		for i := k; i <= n; i++ {
			a, _ := math.Lgamma(float64(n + 1))
			b, _ := math.Lgamma(float64(i + 1))
			c, _ := math.Lgamma(float64(n - i + 1))
			sum += math.Exp(a - b - c + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
		}
		return sum
	}
	for _, tc := range []struct {
		k, n  int
		share float64
	}{{1, 10, 0.05}, {9, 10, 0.05}, {10, 10, 1e-5}, {3, 1000, 1e-6}, {500, 1000, 1e-4}, {997, 1000, 1e-3}} {
		low := binomialLow(tc.k, tc.n, tc.share)
		if got := tail(tc.k, tc.n, low); math.Abs(got-tc.share) > 1e-8*tc.share {
			t.Errorf("%+v: tail %v above %v", tc, got, low)
		}
		high := binomialHigh(tc.k, tc.n, tc.share)
		if mirrored := 1 - binomialLow(tc.n-tc.k, tc.n, tc.share); high != mirrored || high < float64(tc.k)/float64(tc.n) {
			t.Errorf("%+v: upper limit %v", tc, high)
		}
	}
	if low, high := binomialLow(0, 5, 0.1), binomialHigh(5, 5, 0.1); low != 0 || high != 1 {
		t.Errorf("%v, %v", low, high)
	}
}

package threat

import (
	"math"
	"math/rand/v2"
	"testing"

	"mafalda/accounting"
)

// claimOf returns what holds for a pair of mixtures of normal numbers that needs no accountant: μ-GDP.
func claimOf(t *testing.T, mu, delta float64) SampledClaim {
	epsilon, err := accounting.Epsilon(mu, delta)
	if err != nil {
		t.Fatal(err)
	}
	return SampledClaim{epsilon, delta, func(e float64) (float64, error) { return accounting.Delta(mu, e) }}
}

// A right claim fails as rarely as the confidence says, and one that is a little too small is found: on the pair of
// N(0,1) and N(μ,1), where the claim is exact.
func TestSampledCoverage(t *testing.T) {
	const mu, runs, trials = 1.2, 2000, 200
	rng := rand.New(rand.NewPCG(7, 8))
	claim, less := claimOf(t, mu, 1e-3), claimOf(t, 0.7*mu, 1e-3)
	points, err := claim.points()
	if err != nil {
		t.Fatal(err)
	}
	lesser, err := less.points()
	if err != nil {
		t.Fatal(err)
	}
	wrong, found, best := 0, 0, 0.0
	for range trials {
		e := evidence{make([]float64, runs), make([]float64, runs)}
		for i := range runs {
			e.with[i], e.without[i] = mu*rng.NormFloat64()+mu*mu/2, mu*rng.NormFloat64()-mu*mu/2
		}
		r := judge(claim, points, e, 0.5)
		best = max(best, r.EpsilonLow)
		if !r.Passed {
			wrong++
		}
		if !judge(less, lesser, e, 0.99).Passed {
			found++
		}
	}
	if wrong > trials/2 || wrong == 0 {
		t.Errorf("%d of %d right claims fail at confidence 0.5", wrong, trials)
	}
	if found < trials*9/10 {
		t.Errorf("%d of %d small claims are found", found, trials)
	}
	t.Logf("%d of %d fail, %d found; epsilon of at least %.3f of %.3f", wrong, trials, found, best, claim.Epsilon)
}

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

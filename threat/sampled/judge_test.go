package sampled

import (
	"math/rand/v2"
	"testing"

	"mafalda/accounting"
)

// claimOf returns what holds for a pair of mixtures of normal numbers that needs no accountant: μ-GDP.
func claimOf(t *testing.T, mu, delta float64) Claim {
	epsilon, err := accounting.Epsilon(mu, delta)
	if err != nil {
		t.Fatal(err)
	}
	return Claim{Epsilon: epsilon, Delta: delta,
		Curve: func(e float64) (float64, error) { return accounting.Delta(mu, e) }}
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
		with, without := make([]float64, runs), make([]float64, runs)
		for i := range runs {
			with[i], without[i] = mu*rng.NormFloat64()+mu*mu/2, mu*rng.NormFloat64()-mu*mu/2
		}
		r := judge(claim, points, with, without, 0.5)
		best = max(best, r.EpsilonLow)
		if !r.Passed {
			wrong++
		}
		if !judge(less, lesser, with, without, 0.99).Passed {
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

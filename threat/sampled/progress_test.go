package sampled

import (
	"math/rand/v2"
	"sync"
	"testing"

	"mafalda/participation"
	"mafalda/strategy"
)

// All runs are counted, with and without the record, each once.
func TestProgress(t *testing.T) {
	var (
		mu                 sync.Mutex
		calls, most, total int
	)
	count := func(done, of int) {
		mu.Lock()
		defer mu.Unlock()
		calls++
		most, total = max(most, done), of
	}
	s := Scenario{Strategy: strategy.Identity(4), NoiseMultiplier: 1, Claim: Claim{Epsilon: 10, Delta: 1e-6},
		Actual: participation.PoissonSampling{Groups: 1, Probability: 0.5}}
	_, err := Audit(t.Context(), s, Options{Random: rand.NewPCG(1, 0), Runs: 100, Progress: count})
	if err != nil || calls != 4 || most != 200 || total != 200 {
		t.Errorf("%v, %d calls, %d of %d", err, calls, most, total)
	}
}

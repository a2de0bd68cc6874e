package sampled_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"mafalda/accounting"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/threat/sampled"
)

// Half the noise that a claim is about is found by an attack.
func ExampleAudit() {
	ctx, c := context.Background(), strategy.Identity(4)
	batches := participation.PoissonSampling{Groups: 1, Probability: 0.5}
	claim, err := sampled.ClaimOf(ctx, accounting.ZeroOut, c, batches, 2, 1e-5)
	if err != nil {
		log.Fatal(err)
	}
	s := sampled.Scenario{Strategy: c, NoiseMultiplier: 2, Claim: claim, Actual: batches}
	for _, scale := range []float64{1, 0.5} {
		r, err := sampled.Audit(ctx, s, sampled.Options{Random: rand.NewPCG(1, 2), Runs: 20000, NoiseScale: scale})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v of the noise: epsilon of %.2f passes: %v\n", scale, r.Epsilon, r.Passed)
	}
	// Output:
	// 1 of the noise: epsilon of 2.52 passes: true
	// 0.5 of the noise: epsilon of 2.52 passes: false
}

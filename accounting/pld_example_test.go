package accounting_test

import (
	"fmt"
	"log"

	"mafalda/accounting"
)

// What 380 rounds tell of a record that takes part in one of 19, at random and in secret; and the noise for ε = 2.
func ExampleComposeSampled() {
	round := accounting.SampledGaussian{Probability: 1. / 19, NoiseMultiplier: 1}
	rounds := accounting.SampledRounds{SampledGaussian: round, Rounds: 380}
	d, err := accounting.ComposeSampled(accounting.ZeroOut, rounds)
	if err != nil {
		log.Fatal(err)
	}
	upper, lower, err := d.Epsilon(1e-6)
	if err != nil {
		log.Fatal(err)
	}
	p, err := accounting.CalibrateSampled(accounting.SampledTarget{
		Probability: round.Probability, Rounds: rounds.Rounds, Epsilon: 2, Delta: 1e-6,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f <= epsilon <= %.2f; for 2 the noise multiplier is %.2f\n", lower, upper, p.NoiseMultiplier)
	// Output: 7.82 <= epsilon <= 7.82; for 2 the noise multiplier is 2.48
}

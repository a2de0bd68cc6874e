package pld_test

import (
	"fmt"
	"log"

	"mafalda/accounting"
	"mafalda/accounting/pld"
)

// What 380 rounds tell of a record that takes part in one of 19, at random and in secret; and the noise for ε = 2.
func ExampleCompose() {
	round := pld.Mechanism{Probability: 1. / 19, NoiseMultiplier: 1}
	rounds := pld.Rounds{Mechanism: round, Rounds: 380}
	d, err := pld.Compose(accounting.ZeroOut, rounds)
	if err != nil {
		log.Fatal(err)
	}
	upper, lower, err := d.Epsilon(1e-6)
	if err != nil {
		log.Fatal(err)
	}
	p, err := pld.Calibrate(pld.Target{
		Probability: round.Probability, Rounds: rounds.Rounds, Epsilon: 2, Delta: 1e-6,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f <= epsilon <= %.2f; for 2 the noise multiplier is %.2f\n", lower, upper, p.NoiseMultiplier)
	// Output: 7.82 <= epsilon <= 7.82; for 2 the noise multiplier is 2.48
}

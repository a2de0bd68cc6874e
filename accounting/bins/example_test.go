package bins_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/accounting/bins"
)

// A record takes part in two of eight steps, and nobody knows in which of four batches it is: independent noise can
// be about half of what is needed without the secret.
func ExampleMechanism_NoiseMultiplier() {
	steps := mat.NewDiagDense(8, []float64{1, 1, 1, 1, 1, 1, 1, 1})
	mechanism, err := bins.New(steps, 4)
	if err != nil {
		log.Fatal(err)
	}
	secret, err := mechanism.NoiseMultiplier(context.Background(), 0.5, 1e-5, bins.MonteCarlo{Samples: 1 << 14})
	if err != nil {
		log.Fatal(err)
	}
	known, err := accounting.Calibrate(accounting.Target{Epsilon: 0.5, Delta: 1e-5}, 1.41421356, 1, accounting.ZeroOut)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("noise multiplier %.2f instead of %.2f, but for a chance of %v\n", secret.NoiseMultiplier, known.NoiseStd,
		secret.Failure)
	// Output:
	// noise multiplier 5.08 instead of 9.94, but for a chance of 0
}

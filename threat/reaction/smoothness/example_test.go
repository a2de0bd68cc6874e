package smoothness_test

import (
	"fmt"
	"log"

	"mafalda/threat/reaction/smoothness"
)

func ExampleTraining_Class() { // inputs of norm at most 1, the mean over batches of 32, one joint clip
	found, err := smoothness.Training{Model: smoothness.Logistic, Norms: []float64{1}, Rate: 0.1, Batch: 32, Divisor: 32,
		Clip: 1}.Class()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, x = %.3f: every step is %.0f-Lipschitz\n", found.Row, found.X, found.Class.Lipschitz())
	// Output: convex, x = 0.050: every step is 1-Lipschitz
}

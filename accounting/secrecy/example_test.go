package secrecy_test

import (
	"fmt"
	"log"

	"mafalda/accounting/secrecy"
)

// Whoever is (8, 1e-6)-DP by hiding in which of 19 bins a record is cannot let it change more than this, whatever the
// strategy: all bins in one direction, and each in a direction of its own.
func ExampleBins_MeanSquare() {
	b, err := secrecy.NewBins(19, 8, 1e-6)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f and %.3f, squared and over the noise\n", b.MeanSquare(19), b.MeanSquare(1))
	// Output:
	// 2.346 and 3.968, squared and over the noise
}

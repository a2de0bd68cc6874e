package sampling_test

import (
	"fmt"
	"log"

	"mafalda/accounting/pld"
	"mafalda/accounting/sampling"
)

// Of 50,000 records a step draws 2,632 on average: batches of 2,961 cost nearly nothing, and smaller ones a part of δ.
func ExampleBatches_Left() {
	rounds := pld.BandRounds(380, 19, 1)
	fmt.Println(sampling.Enough(50_000, rounds, 1, 1e-6).Most)
	left, err := sampling.Batches{Records: 50_000, Most: 2_905}.Left(1e-6, rounds, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3g\n", left)
	// Output:
	// 2961
	// 2.73e-07
}

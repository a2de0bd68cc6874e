package secrets_test

import (
	"context"
	"fmt"
	"log"

	"mafalda/secrets"
)

// Four nodes of which every two share a secret: of the variance ¼ of their own, three quarters of what would protect
// them alone is saved.
func Example() {
	g, err := secrets.Complete(4)
	if err != nil {
		log.Fatal(err)
	}
	noise, err := secrets.NewNoise(g, []float64{0.34, 0.34, 0.34, 0.34}, []float64{20, 20, 20, 20, 20, 20})
	if err != nil {
		log.Fatal(err)
	}
	for size := range 3 {
		attackers, err := secrets.Colluding(4, size)
		if err != nil {
			log.Fatal(err)
		}
		worst, err := noise.Worst(context.Background(), attackers)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d curious: %.3f\n", size, worst.Value)
	}
	// Output:
	// 0 curious: 0.745
	// 1 curious: 0.991
	// 2 curious: 1.483
}

package secrets_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"mafalda/secrets"
)

// Four nodes of which every two share a secret: of the variance ¼ of their own, three quarters of what would protect
// them alone is saved.
func Example() {
	g, err := secrets.Complete(4)
	if err != nil {
		log.Fatal(err)
	}
	own := math.Sqrt(0.34)
	noise := &secrets.Noise{Own: []float64{own, own, own, own}}
	for _, p := range g.Pairs() {
		noise.Pairs = append(noise.Pairs, secrets.Shared{Pair: p, Deviation: math.Sqrt(20)})
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

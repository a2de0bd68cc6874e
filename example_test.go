package mafalda_test

import (
	"context"
	"fmt"
	"log"

	"mafalda"
)

// A graph, the optimum on it with a noise level for (ε, δ), and the first row of one node's noise.
func Example() {
	ctx := context.Background()
	network, err := mafalda.LoadNetwork(ctx, "florentine")
	if err != nil {
		log.Fatal(err)
	}
	problem := mafalda.Problem{Network: network, Participation: mafalda.Cyclic{Steps: 32, Times: 4}}
	solution, err := mafalda.Solve(ctx, problem, mafalda.Options{Epsilon: 8, Delta: 1e-6})
	if err != nil {
		log.Fatal(err)
	}
	noise, err := mafalda.NoiseOf(solution, "Medici", 10)
	if err != nil {
		log.Fatal(err)
	}
	row := make([]float64, 10)
	if err := noise.Next(row); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("loss %.2f, gap below 1e-6: %v, noise std %.4f, private: %v\n", solution.Quality.Loss, solution.Gap < 1e-6,
		noise.NoiseStd(), noise.Private())
	// Output: loss 1402.36, gap below 1e-6: true, noise std 0.6529, private: true
}

package main // computes the optimal noise of a network, exports and verifies it, and draws a row

import (
	"context"
	"fmt"
	"mafalda"
)

func main() {
	ctx, row := context.Background(), make([]float64, 1000)
	network := must(mafalda.LoadNetwork(ctx, "florentine")) // or the path of an edge list
	problem := mafalda.Problem{Network: network, Participation: mafalda.Cyclic{Steps: 64, Times: 4}}
	solution := must(mafalda.Solve(ctx, problem, mafalda.Options{Epsilon: 8, Delta: 1e-6, Clip: 1}))
	must(0, solution.Export("from-go", mafalda.WriteOptions{Force: true}))
	report := must(mafalda.Verify(ctx, must(mafalda.Open("from-go")), network))
	must(0, must(mafalda.Noise("from-go", "Medici", len(row))).Next(row)) // for Medici's first clipped sum
	fmt.Printf("loss %.6g, gap %.1g, verified: %v\n", solution.Quality.Loss, solution.Gap, report.OK())
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

package plan_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/graph"
	"mafalda/noise"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/verify"
)

// From a graph to a row of noise: load, solve, export, verify, stream.
func Example() {
	ctx := context.Background()
	network, err := graph.LoadNetwork(ctx, graph.NetworkOptions{Source: "florentine"})
	if err != nil {
		log.Fatal(err)
	}
	schema, err := participation.NewCyclic(16, 4, 4) // 16 steps; a record takes part in 4 of them, 4 apart
	if err != nil {
		log.Fatal(err)
	}
	problem := plan.Problem{Network: network, Schema: schema}
	privacy := &plan.Privacy{Target: accounting.Target{Epsilon: 8, Delta: 1e-6}}
	solution, err := plan.Solve(ctx, problem, plan.Options{Privacy: privacy})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v: loss %.1f, no strategy has less than %.1f\n", solution.Ending.Status, solution.Quality.Loss,
		solution.LowerBound)

	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "out")
	if err := solution.Export(out, export.WriteOptions{}); err != nil {
		log.Fatal(err)
	}
	written, err := export.Load(out)
	if err != nil {
		log.Fatal(err)
	}
	report, err := verify.Verify(ctx, written, network)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d checks, all of them hold: %v\n", len(report.Checks), report.OK())

	seed := uint64(1) // only for tests: noise that can be made again protects no record
	stream, err := noise.Open(out, "Medici", 3, noise.Options{Seed: &seed})
	if err != nil {
		log.Fatal(err)
	}
	row := make([]float64, stream.Dim())
	if err := stream.Next(row); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("noise of step 0, with deviation %.3f before it is correlated: %.2f\n", stream.NoiseStd(), row)
	// Output:
	// converged: loss 620.6, no strategy has less than 620.6
	// 17 checks, all of them hold: true
	// noise of step 0, with deviation 0.653 before it is correlated: [1.66 1.93 -2.43]
}

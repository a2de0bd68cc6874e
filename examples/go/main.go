// Program example makes the optimal noise of a network: load a graph, solve, export, verify, stream.
package main

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
)

func main() {
	dir := must(os.MkdirTemp("", "mafalda-"))
	defer os.RemoveAll(dir)
	ctx, out := context.Background(), filepath.Join(dir, "out")

	network := must(graph.LoadNetwork(ctx, graph.NetworkOptions{Source: "florentine"})) // or the path of an edge list
	schema := must(participation.Complete(64, 4, 0))                                    // 64 steps, a record in 4 of them
	problem := plan.Problem{Network: network, Schema: schema}
	solution := must(plan.Solve(ctx, problem, plan.Options{
		Privacy: &plan.Privacy{Target: accounting.Target{Epsilon: 8, Delta: 1e-6}, Clip: 1},
	}))
	fmt.Printf("loss %.6g, proven optimal up to %.1g\n", solution.Quality.Loss, solution.Gap)
	check(solution.Export(out, export.WriteOptions{}))

	report := must(plan.Verify(ctx, must(export.Load(out)), network))
	fmt.Printf("%d checks of the export, %d failed\n", len(report.Checks), len(report.Failures()))

	stream := must(noise.Open(out, "Medici", 1000, noise.Options{})) // a key from the operating system
	row := make([]float64, stream.Dim())
	for range stream.Steps() {
		check(stream.Next(row)) // what the node Medici adds to its sum of clipped gradients in this step
	}
	fmt.Printf("%d rows of noise, private: %v\n", stream.Step(), stream.Private())
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

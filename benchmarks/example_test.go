package benchmarks_test

import (
	"context"
	"fmt"
	"log"

	"mafalda/benchmarks"
	"mafalda/graph"
	"mafalda/participation"
)

// How far the strategies of the field are above the optimum, where a record takes part in four of sixteen steps.
func ExampleStudy() {
	ctx := context.Background()
	n, err := graph.LoadNetwork(ctx, graph.NetworkOptions{Source: "florentine"})
	if err != nil {
		log.Fatal(err)
	}
	schema, err := participation.NewCyclic(16, 4, 4)
	if err != nil {
		log.Fatal(err)
	}
	s, err := benchmarks.NewStudy([]*graph.Network{n}, []participation.Cyclic{schema}, graph.NetworkOptions{}, benchmarks.SuitePrivacies())
	if err != nil {
		log.Fatal(err)
	}
	for _, cell := range s.Cells() {
		row, err := s.Do(ctx, cell)
		if err != nil {
			log.Fatal(err)
		}
		if row.Ratio == 0 { // in secret it depends on the privacy: here ε = 0.5
			row.Ratio = row.AtPrivacy[0].Ratio
		}
		fmt.Printf("%-14s %.2f\n", row.Strategy, row.Ratio)
	}
	// Output:
	// dense          1.00
	// banded 2b      1.00
	// banded b       1.01
	// toeplitz b, scaled 1.02
	// toeplitz b     1.06
	// blt 4          1.05
	// banded-inverse 4 1.10
	// d-mf           1.06
	// bsr b          1.11
	// bisr 4         1.56
	// sr             2.13
	// tree           2.56
	// dp-d-sgd       1.80
	// antipgd        17.76
	// bands, poisson 0.49
	// dp-d-sgd, poisson 0.49
}

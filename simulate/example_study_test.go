package simulate_test

import (
	"context"
	"fmt"
	"log"

	"mafalda/graph"
	"mafalda/participation"
	"mafalda/simulate"
)

// Compare methods at one level of privacy. Cells and what comes of them are plain data: they may be computed anywhere.
func ExampleStudy() {
	ctx := context.Background()
	n, err := graph.LoadNetwork(ctx, graph.NetworkOptions{Source: "florentine"})
	if err != nil {
		log.Fatal(err)
	}
	schema, err := participation.NewCyclic(160, 10, 16)
	if err != nil {
		log.Fatal(err)
	}
	config := simulate.Config{Task: simulate.LinearTask(2000, 10), Schema: schema}
	options := simulate.StudyOptions{Methods: []string{simulate.None, "dp-d-sgd", simulate.Mafalda}, Mus: []float64{0.5},
		Delta: 1e-6, Seeds: 2}
	s, err := simulate.NewStudy(n, config, options)
	if err != nil {
		log.Fatal(err)
	}
	cells := s.Cells()
	runs := make([]simulate.Result, len(cells))
	for i, c := range cells {
		if runs[i], err = s.Do(ctx, c); err != nil {
			log.Fatal(err)
		}
	}
	rows, err := simulate.NewGrid(cells, runs).Rows(options.Delta)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range rows {
		fmt.Printf("%-8s %.2f\n", r.Method, *r.Mean)
	}
	// Output:
	// none     0.29
	// dp-d-sgd 0.38
	// mafalda  0.31
}

package simulate_test

import (
	"context"
	"fmt"
	"log"

	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/simulate"
	"mafalda/strategy"
	"mafalda/workload"
)

// Train with the optimal strategy of a network, and with independent noise of the same privacy.
func ExampleRun() {
	ctx := context.Background()
	g, _, err := graph.ByName("florentine", graph.BuiltinOptions{})
	if err != nil {
		log.Fatal(err)
	}
	w, err := graph.NewGossip(g, graph.Uniform)
	if err != nil {
		log.Fatal(err)
	}
	schema, err := participation.NewCyclic(160, 10, 16)
	if err != nil {
		log.Fatal(err)
	}
	h, err := workload.Gram(ctx, w.Matrix(), 160, workload.Options{})
	if err != nil {
		log.Fatal(err)
	}
	best, err := factorize.Dense{}.Optimize(ctx, factorize.Mean(h), schema, factorize.Options{})
	if err != nil {
		log.Fatal(err)
	}
	run := simulate.Config{Task: simulate.LinearTask(2000, 10), Gossip: w.Matrix(), Schema: schema}
	for _, strategy := range []strategy.Strategy{best.Strategy, strategy.Identity(160)} {
		c, err := simulate.NewCorrelation(g.Nodes(), simulate.Shared(strategy), schema)
		if err != nil {
			log.Fatal(err)
		}
		r, err := simulate.Run(ctx, run, &simulate.Noise{Correlation: c, Mu: 0.5}, 1)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("loss in the last %d steps: %.2f\n", simulate.Window, *r.Mean)
	}
	// Output:
	// loss in the last 50 steps: 0.30
	// loss in the last 50 steps: 0.37
}

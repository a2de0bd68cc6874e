package gossip_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"mafalda/graph"
	"mafalda/protocols/gossip"
)

// Four nodes in a row average under noise, and the first one sees the messages of its neighbour in the rounds 0 and 1.
func ExampleProtocol() {
	g, _, err := graph.ByName("path:4", graph.BuiltinOptions{})
	if err != nil {
		panic(err)
	}
	w, err := graph.NewGossip(g, graph.Metropolis)
	if err != nil {
		panic(err)
	}
	p, err := gossip.New(g, w)
	if err != nil {
		panic(err)
	}
	o := gossip.Options{NoiseStd: 1, Rounds: 1000, Tolerance: 1e-9}
	run, err := p.Run(context.Background(), []float64{1, 2, 3, 6}, o, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		panic(err)
	}
	last := run.Values[len(run.Values)-1]
	fmt.Printf("the average %v is found as %.2f\n", run.Mean, last[0])
	seen, err := p.Exposures(context.Background(), []int{0}, 1)
	if err != nil {
		panic(err)
	}
	for node, e := range seen {
		fmt.Printf("node %d: seen %.2f, %.2f nats\n", node, e.Seen, gossip.Leakage(e, 1, 1))
	}
	// Output:
	// the average 3 is found as 2.88
	// node 0: seen 1.00, 0.35 nats
	// node 1: seen 1.00, 0.35 nats
	// node 2: seen 1.00, 0.35 nats
	// node 3: seen 0.00, 0.00 nats
}

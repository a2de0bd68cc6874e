package ppac_test

import (
	"context"
	"fmt"

	"mafalda/graph"
	"mafalda/protocols/ppac"
)

// What the Medici learn of the other families when these average a number with PPAC.
func ExampleProtocol() {
	g, _, err := graph.ByName("florentine", graph.BuiltinOptions{})
	if err != nil {
		panic(err)
	}
	w, err := graph.NewGossip(g, graph.Laplacian)
	if err != nil {
		panic(err)
	}
	first := make([]int, g.Nodes()) // every node completes its fragments at its first neighbour
	for i := range first {
		first[i] = -1
		g.Adjacency().DoRowNonZero(i, func(_, j int, _ float64) {
			if first[i] < 0 {
				first[i] = j
			}
		})
	}
	p, err := ppac.New(g, w, first)
	if err != nil {
		panic(err)
	}
	const medici = 8
	view, err := p.View(context.Background(), []int{medici}, ppac.Forever)
	if err != nil {
		panic(err)
	}
	leaks, err := view.Leakages(context.Background(), ppac.Deviations{Value: 10, Noise: 1500})
	if err != nil {
		panic(err)
	}
	for _, l := range leaks[:5] {
		fmt.Printf("%-10s %.4f\n", g.Label(l.Victim), l.Nats)
	}
	// Output:
	// Acciaiuoli +Inf
	// Albizzi    0.0477
	// Barbadori  0.0477
	// Bischeri   0.0477
	// Castellani 0.0477
}

package protocols_test

import (
	"context"
	"fmt"

	"mafalda/graph"
	"mafalda/protocols"
)

// What the Medici learn of the other families when these average a number with PPAC.
func ExamplePPAC() {
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
	p, err := protocols.NewPPAC(g, w, first)
	if err != nil {
		panic(err)
	}
	const medici = 8
	view, err := p.View(context.Background(), []int{medici}, protocols.Forever)
	if err != nil {
		panic(err)
	}
	leaks, err := view.Leakages(context.Background(), protocols.Uniform(10, 1500))
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

// Constants for which the sensitivity estimate of DPPS is sound.
func ExampleSequence_Calibrate() {
	s, err := protocols.EXP(8)
	if err != nil {
		panic(err)
	}
	c, err := s.Calibrate(context.Background(), protocols.CalibrateOptions{})
	if err != nil {
		panic(err)
	}
	needed, _, err := s.SoundConstant(context.Background(), protocols.PaperConstants.Lambda, protocols.CalibrateOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("C' = %.2f, lambda = %.2f; with the paper's lambda = %.2f, C' must be %.2f or more\n", c.C, c.Lambda, protocols.PaperConstants.Lambda, needed)
	// Output: C' = 2.88, lambda = 0.67; with the paper's lambda = 0.55, C' must be 3.56 or more
}

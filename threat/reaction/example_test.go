package reaction_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"mafalda/participation"
	"mafalda/threat/reaction"
)

// What the last node of a path of three learns of the first one in two steps: nothing is learned at once, so all of it
// went through the middle node's training.
func ExampleVictims() {
	w := mat.NewDense(3, 3, []float64{1. / 2, 1. / 2, 0, 1. / 3, 1. / 3, 1. / 3, 0, 1. / 2, 1. / 2})
	step, hidden := reaction.Look(3, []*mat.Dense{w}, []int{2}, false)
	system := &reaction.System{Nodes: len(hidden), Steps: []reaction.Step{step, step}}
	schema, err := participation.NewCyclic(2, 1, 2)
	if err != nil {
		log.Fatal(err)
	}
	victim := reaction.Victim{Node: 0, Schema: schema}
	convex, err := reaction.Convex.Class(0.1, 0)
	if err != nil {
		log.Fatal(err)
	}
	smooth, err := reaction.Smooth.Class(0.05, 0)
	if err != nil {
		log.Fatal(err)
	}
	steep, err := reaction.Lipschitz.Class(26, 0)
	if err != nil {
		log.Fatal(err)
	}
	for _, class := range []reaction.Class{convex, smooth, steep} {
		all, err := reaction.NewVictims(system, nil, nil, reaction.Everywhere(class))
		if err != nil {
			log.Fatal(err)
		}
		r, err := all.Bound(context.Background(), victim, 0, 0)
		if err != nil {
			log.Fatal(err)
		}
		if err := all.Attack(context.Background(), victim, r); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("attack %.4f, bound %.4f, local DP %.0f\n", r.WorstAnswer, r.SensSquared, r.LocalDP)
	}
	// Output:
	// attack 0.1000, bound 0.1000, local DP 1
	// attack 0.1091, bound 0.1091, local DP 1
	// attack 0.9869, bound 0.9869, local DP 1
}

// All finds the nodes that Bound should look at.
func ExampleVictims_All() {
	w := mat.NewDense(3, 3, []float64{1. / 2, 1. / 2, 0, 1. / 3, 1. / 3, 1. / 3, 0, 1. / 2, 1. / 2})
	step, hidden := reaction.Look(3, []*mat.Dense{w}, []int{2}, true)
	system := &reaction.System{Nodes: len(hidden), Steps: []reaction.Step{step, step, step}}
	schema, err := participation.NewCyclic(3, 1, 3)
	if err != nil {
		log.Fatal(err)
	}
	victims, err := reaction.NewVictims(system, nil, nil, reaction.Everywhere(reaction.Class{Rho: 1}))
	if err != nil {
		log.Fatal(err)
	}
	all, err := victims.All(context.Background(), schema)
	if err != nil {
		log.Fatal(err)
	}
	for i, v := range hidden {
		fmt.Printf("node %d: %.3f of %.0f\n", v, all.SensSquared[i], all.LocalDP[i])
	}
	// Output:
	// node 0: 0.120 of 1
	// node 1: 1.000 of 1
}

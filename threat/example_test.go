package threat_test

import (
	"context"
	"fmt"

	"mafalda/graph"
	"mafalda/participation"
	"mafalda/threat"
)

// What the Medici learn of the Pazzi, who are two hops away, when a record takes part in each of ten steps: a quarter
// of what all messages together say.
func ExampleAccount() {
	families, _, err := graph.ByName("florentine", graph.BuiltinOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	gossip, err := graph.NewGossip(families, graph.Uniform)
	if err != nil {
		fmt.Println(err)
		return
	}
	schema, err := participation.NewCyclic(10, 10, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	s := threat.Scenario{
		Gossip: gossip.Matrix(), Algorithm: threat.DPDSGD(), Schema: schema,
		Attacker: threat.Attacker{Trust: threat.PNDP, Nodes: []int{8}}, // the Medici
	}
	local, err := s.Algorithm.Local(schema)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = threat.Account(context.Background(), s, func(e threat.Exposure) error {
		if families.Label(e.Victim) != "Pazzi" {
			return nil
		}
		squared, err := threat.Best.Squared(e, schema, local)
		fmt.Printf("sens² %.4f, local DP %.0f\n", squared, local)
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: sens² 2.3766, local DP 10
}

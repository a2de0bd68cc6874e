package ppac

import (
	"context"
	"fmt"

	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/protocols/averaging"
)

// AppendixExample is the 6-node example of Fereydounian et al., Appendix A, with its values, chosen neighbours and
// v(0), where node 4 looks at node 1; seed is the seed of sweeps. The text does not list the edges: these fit what it
// says (every chosen neighbour is one, and a cycle visits all nodes).
func AppendixExample(ctx context.Context, seed uint64) (*Averaging, error) {
	edges := lists.Map([][2]int{{0, 1}, {1, 3}, {2, 3}, {3, 4}, {0, 5}, {4, 5}, {1, 2}}, func(e [2]int) graph.Edge {
		return graph.Edge{U: e[0], V: e[1], Weight: 1}
	})
	g, err := graph.New([]string{"1", "2", "3", "4", "5", "6"}, edges, false)
	if err != nil {
		return nil, err
	}
	protocol, w, err := protocolOn(g, graph.Laplacian, []int{1, 3, 3, 2, 3, 0})
	if err != nil {
		return nil, err
	}
	a := &Averaging{protocol: protocol, Problem: averaging.Problem{
		Network: &graph.Network{Graph: g, Gossip: w, Origin: graph.Origin{Source: "the 6-node example"}},
		Values:  []float64{2.30, 4.40, -6.17, 2.75, 6.01, 0.92}, ValueStd: 10,
		Observers: [][]int{{3}}, Victims: []int{0}, Seed: seed}}
	const rounds, noise = 60, 15
	a.Run = &Run{Trace: averaging.NewTrace(a.Problem.Values, []float64{-12.57, 16.49, -20.11, 20.78, -23.08, 28.70})}
	if err := protocol.Average(ctx, a.Run, rounds, 0); err != nil {
		return nil, err
	}
	return a, a.finish(ctx, AverageOptions{NoiseStd: noise})
}

// protocolOn returns the protocol on a graph with weights of a scheme.
func protocolOn(g *graph.Graph, s graph.Scheme, chosen []int) (*Protocol, *graph.Gossip, error) {
	w, err := graph.NewGossip(g, s)
	if err != nil {
		return nil, nil, err
	}
	p, err := New(g, w, chosen)
	return p, w, err
}

// CycleLeakage is what node 1 learns of node 2 on a cycle, by noise.
type CycleLeakage struct {
	Nodes    int
	Noises   []float64 // standard deviations
	Leakages []float64 // leakage in nats, by noise
	Floor    float64   // what the average alone says
}

// CycleValueStd is the standard deviation of the values of Cycles.
const CycleValueStd = 10

// Cycles are the leakages of Fereydounian et al., Figure 7.
func Cycles(ctx context.Context) ([]CycleLeakage, error) {
	var all []CycleLeakage
	for _, n := range []int{10, 20, 30, 40} {
		c, err := cycleLeakage(ctx, n)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func cycleLeakage(ctx context.Context, n int) (c CycleLeakage, err error) {
	g, _, err := graph.ByName(fmt.Sprintf("cycle:%d", n), graph.BuiltinOptions{})
	if err != nil {
		return c, err
	}
	// the paper's A/2 reaches no consensus on even cycles; powers of these weights see the same
	p, _, err := protocolOn(g, graph.Metropolis, lists.Make(n, func(i int) int { return (i + 1) % n }))
	if err != nil {
		return c, err
	}
	view, err := p.View(ctx, []int{0}, Forever)
	if err != nil {
		return c, err
	}
	c = CycleLeakage{Nodes: n, Floor: averaging.Floor(n)}
	for _, scale := range decades() {
		leaks, err := view.Leakages(ctx, Deviations{CycleValueStd, scale * CycleValueStd})
		if err != nil {
			return c, err
		}
		c.Noises, c.Leakages = append(c.Noises, scale*CycleValueStd), append(c.Leakages, leaks[0].Nats)
	}
	return c, nil
}

package plan

import (
	"context"
	"fmt"

	"mafalda/factorize"
	"mafalda/workload"

	"gonum.org/v1/gonum/mat"
)

// several computes strategies for single nodes or groups, starting from the shared one.
func (s *solver) several(ctx context.Context) error {
	if !s.Options.split() {
		return nil
	}
	nodes := factorize.Nodes{Shared: s.Optimum.Strategy, Groups: s.Options.Groups, Parts: s.Options.Parts}
	err := workload.NodeGrams(ctx, s.Problem.Network.Gossip.Matrix(), s.schema().Steps(),
		workload.Options{Spec: s.Problem.Workload, Progress: s.counts("Gram matrices of the nodes")},
		func(_ int, h *mat.SymDense) error {
			nodes.Grams = append(nodes.Grams, h)
			return nil
		})
	if isEnd(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("computing the Gram matrices of the nodes: %w", err)
	}
	split, err := nodes.Optimize(ctx, s.schema(), factorize.Options{Gap: s.Options.Tolerance,
		Progress: func(it factorize.Iteration) { s.counts("strategies")(it.Done, it.Total) }})
	if err != nil && !isEnd(err) {
		return fmt.Errorf("optimizing for single nodes: %w", err)
	}
	s.Split = split
	return nil
}

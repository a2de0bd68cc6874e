package verify

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/measure"
	"mafalda/participation"
)

// oneLevelOn checks the least loss at one level for all nodes, where nodes have their own.
func (v *verification) oneLevelOn(ctx context.Context, n *graph.Network) error {
	m := v.export.Manifest
	if m.Budgets == nil {
		return nil
	}
	k, _, err := measure.Source{Gram: m.Gram, Network: n, Workload: v.spec}.Kernel(ctx, m.Steps)
	if err != nil {
		return err
	}
	return v.oneLevel(ctx, k.Gram())
}

// oneLevel is oneLevelOn for a Gram matrix in which every node counts alike.
func (v *verification) oneLevel(ctx context.Context, h *mat.SymDense) error {
	m := v.export.Manifest
	switch {
	case m.Budgets == nil:
		return nil
	case m.OneLevelLoss == 0:
		v.skip("one_level_loss")
		return nil
	case !participation.IsPartition(v.schema):
		v.add("one level", false, "one_level_loss is for patterns that do not overlap")
		return nil
	}
	best, err := factorize.Dense{}.Optimize(ctx, factorize.Mean(h), v.schema, factorize.Options{Gap: v.fineGap()})
	if err != nil {
		return err
	}
	v.again.OneLevelLoss, v.reached["one_level_loss"] = best.Loss, best.Gap
	v.compare("one level", fmt.Sprintf("with one level for all nodes the best strategy has %s, the manifest says %s",
		textUp(best.Loss), textUp(m.OneLevelLoss)))
	return nil
}

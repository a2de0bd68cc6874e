package main

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/workload"
)

// layers checks an export of several strategies: each of them, who uses it, and the sums over the nodes.
func (v *verification) layers(ctx context.Context) error {
	m := v.export.Manifest
	strategies := make([]factorize.Strategy, len(v.export.Layers))
	var worst participation.Sensitivity
	for i, layer := range v.export.Layers {
		c, err := factorize.NewDense(layer.C)
		if err != nil {
			v.add("strategy", false, "layer %d: %v", i, err)
			return nil
		}
		if err := inverseOf(layer.C, layer.Inverse); err != nil {
			v.add("inverse", false, "layer %d: %v", i, err)
			return nil
		}
		sens, err := factorize.Sensitivity(c, v.schema)
		if err != nil {
			v.add("sensitivity", false, "layer %d: %v", i, err)
			return nil
		}
		if i == 0 || sens.Squared > worst.Squared {
			worst = sens
		}
		strategies[i] = c
	}
	v.add("strategy", true, "%d of T = %d, lower triangular with positive diagonals", len(strategies), m.Steps)
	v.add("inverse", true, "C·C⁻¹ is I for all of them")
	v.sensitivityIs(worst)
	v.privacy()
	n, err := v.networkOf()
	if err != nil || n == nil {
		return err
	}
	if n.graph.Nodes() != len(m.PerNode.Layers) {
		v.add("nodes", false, "%d nodes, but the manifest gives strategies to %d", n.graph.Nodes(), len(m.PerNode.Layers))
		return nil
	}
	return v.nodeLosses(ctx, n.gossip.Matrix(), strategies)
}

// nodeLosses checks squared error and loss, node by node, and proves a lower bound for each.
func (v *verification) nodeLosses(ctx context.Context, w *graph.CSR, strategies []factorize.Strategy) error {
	m := v.export.Manifest
	kind, err := workload.ParseKind(m.Workload)
	if err != nil {
		return err
	}
	sum := mat.NewSymDense(m.Steps, nil)
	var squared, bound, apart float64
	err = workload.NodeGrams(ctx, w, m.Steps, workload.Options{Kind: kind}, func(i int, h *mat.SymDense) error {
		c := strategies[m.PerNode.Layers[i]]
		q, err := factorize.Evaluate(c, h, v.schema)
		if err != nil {
			return fmt.Errorf("node %d: %w", i, err)
		}
		squared += q.SquaredError
		if i < len(m.PerNode.Losses) {
			apart = math.Max(apart, math.Abs(q.SquaredError-m.PerNode.Losses[i])/q.SquaredError)
		}
		if b, err := factorize.LowerBound(h, factorize.GramOf(c), v.schema); err == nil { // else 0: an H that is not positive definite
			bound += b
		}
		sum.AddSym(sum, h)
		return nil
	})
	if err != nil {
		return err
	}
	loss := squared * m.SensSquared
	v.add("loss", same(loss, m.Loss) && same(squared, m.SquaredError) && apart < 1e-9 && len(m.PerNode.Losses) == len(m.PerNode.Layers),
		"loss %s of %d nodes; the manifest says %s, single nodes differ by %s", decimalUp(loss, 12), len(m.PerNode.Layers), decimalUp(m.Loss, 12),
		decimalUp(apart, 2))
	v.add("lower bound", m.LowerBound <= bound*(1+m.Tolerance+1e-9) && same((m.Loss-m.LowerBound)/m.LowerBound+1, m.Gap+1),
		"%s is proven node by node; the manifest says %s", decimalDown(bound, 12), decimalDown(m.LowerBound, 12))
	shared, err := factorize.Optimize(ctx, sum, v.schema, factorize.Options{Gap: math.Max(m.Tolerance, factorize.MinGap(m.Steps))})
	if err != nil {
		return err
	}
	v.add("shared loss", math.Abs(shared.Loss-m.SharedLoss) <= 2*math.Max(m.Tolerance, shared.Gap)*m.SharedLoss,
		"the best shared strategy has %s; the manifest says %s", decimalUp(shared.Loss, 12), decimalUp(m.SharedLoss, 12))
	return nil
}

// same compares what was computed with what the manifest says.
func same(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

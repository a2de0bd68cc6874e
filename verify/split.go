package verify

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/measure"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// layers checks an export of several strategies: each of them, who uses it, and the sums over the nodes.
func (v *verification) layers(ctx context.Context) error {
	m := v.export.Manifest
	if !isDense(m.Strategy) || !participation.IsPartition(v.schema) || m.Objective != "" || m.Weights != nil ||
		len(v.export.Layers) == 0 {
		v.add("strategy", false,
			"several strategies are dense, for the mean error and disjoint patterns; the manifest says otherwise")
		return nil
	}
	strategies := make([]strategy.Strategy, len(v.export.Layers))
	var worst participation.Sensitivity
	for i, layer := range v.export.Layers {
		c, err := strategy.NewDense(layer.C)
		if err != nil {
			v.add("strategy", false, "layer %d: %v", i, err)
			return nil
		}
		if err := strategy.CheckInverse(layer.C, layer.Inverse); err != nil {
			v.add("inverse", false, "layer %d: %v", i, err)
			return nil
		}
		sens, err := strategy.Sensitivity(c, v.schema)
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
	v.description(strategies[0])
	v.sensitivityIs(worst)
	v.privacy()
	if err := v.sampling(ctx, strategies[0]); err != nil {
		return err
	}
	if !v.grouping() || v.isSettled() {
		return nil
	}
	n, known, err := v.network(ctx)
	if err != nil || !known {
		return err
	}
	if n == nil || n.Graph.Nodes() != len(m.PerNode.Layers) {
		v.add("nodes", false, "the manifest gives strategies to %d nodes, the network has another number",
			len(m.PerNode.Layers))
		return nil
	}
	if err := v.checkSketch(n); err != nil {
		return err
	}
	if m.Gram != nil && m.Gram.Method != "exact" {
		v.add("gram", false, "strategies of single nodes need exact Gram matrices; the manifest says %s", m.Gram.Method)
		return nil
	}
	return v.computing("loss", v.nodeLosses(ctx, n, strategies))
}

// nodeLosses checks squared error and loss, node by node, and proves the lower bounds.
func (v *verification) nodeLosses(ctx context.Context, n *graph.Network, strategies []strategy.Strategy) error {
	m, w := v.export.Manifest, n.Gossip.Matrix()
	all := mat.NewSymDense(m.Steps, nil)
	sums := make([]*mat.SymDense, len(strategies)) // of the nodes of a layer
	var losses []float64
	var bound float64
	plain := mat.NewSymDense(m.Steps, nil) // of all nodes at one level
	err := workload.NodeGrams(ctx, w, m.Steps, v.options(), func(i int, h *mat.SymDense) error {
		plain.AddSym(plain, h)
		v.weigh(h, i)
		layer := m.PerNode.Layers[i]
		c := strategies[layer]
		q, err := factorize.Evaluate(c, factorize.Mean(h), v.schema)
		if err != nil {
			return fmt.Errorf("node %d: %w", i, err)
		}
		losses = append(losses, q.SquaredError)
		if b, err := factorize.LowerBound(h, strategy.GramOf(c),
			v.schema); err == nil { // else 0: an H that is not positive definite
			bound += b
		}
		all.AddSym(all, h)
		if sums[layer] == nil {
			sums[layer] = mat.NewSymDense(m.Steps, nil)
		}
		sums[layer].AddSym(sums[layer], h)
		return nil
	})
	if err != nil {
		return err
	}
	v.again.PerNode.Losses, v.again.SquaredError = losses, floats.Sum(losses)
	v.again.Loss = v.again.SquaredError * m.SensSquared
	v.compare("loss", "")
	if err := v.nodeBound(ctx, w, strategies, bound); err != nil {
		return err
	}
	if err := v.groupBound(ctx, strategies, sums); err != nil {
		return err
	}
	shared, err := v.optimum(ctx, all, v.schema, nil)
	if err != nil {
		return err
	}
	v.optimumIs("shared loss", "shared_loss", &v.again.SharedLoss, shared)
	if err := v.oneLevel(ctx, plain); err != nil {
		return err
	}
	if err := v.baselines(ctx, measure.Mean, all, nil); err != nil {
		return err
	}
	return v.plain(ctx, n, func() factorize.Objective { return factorize.Mean(all) })
}

// weigh scales a node's Gram matrix by how much its noise counts.
func (v *verification) weigh(h *mat.SymDense, node int) {
	if weights := v.weights(); weights != nil {
		h.ScaleSym(weights[node], h)
	}
}

// nodeBound checks the lower bound: it is proven by the nodes' strategies, or else not above losses that optima for
// single nodes reach.
func (v *verification) nodeBound(ctx context.Context, w *graph.CSR, strategies []strategy.Strategy,
	proven float64) error {
	m := v.export.Manifest
	if most := proven * (1 + 1e-12); m.LowerBound <= most {
		v.lowerBoundIs(proven, most)
		return nil
	}
	var reached float64
	err := workload.NodeGrams(ctx, w, m.Steps, v.options(), func(i int, h *mat.SymDense) error {
		v.weigh(h, i)
		c := strategies[m.PerNode.Layers[i]]
		best, err := v.optimum(ctx, h, v.schema, strategy.GramOf(c))
		if err == nil {
			reached += best.Loss
			return nil
		}
		q, err := factorize.Evaluate(c, factorize.Mean(h), v.schema) // no node listens to it
		reached += q.Loss
		return err
	})
	if err != nil {
		return err
	}
	v.lowerBoundIs(proven, reached)
	return nil
}

// groupBound checks the bound for strategies of the same groups of nodes: not above losses that these reach, nor
// further below than the tolerance allows.
func (v *verification) groupBound(ctx context.Context, strategies []strategy.Strategy, sums []*mat.SymDense) error {
	m := v.export.Manifest
	if m.PerNode.Groups == 0 { // every node is its own group
		v.again.PerNode.GroupBound = m.LowerBound
		v.compare("group bound", "")
		return nil
	}
	var reached, proven float64
	for i, h := range sums {
		if h == nil {
			continue
		}
		best, err := v.optimum(ctx, h, v.schema, strategy.GramOf(strategies[i]))
		if err != nil { // not positive definite: no node listens to these
			q, err := factorize.Evaluate(strategies[i], factorize.Mean(h), v.schema)
			if err != nil {
				return err
			}
			reached += q.Loss
			continue
		}
		reached, proven = reached+best.Loss, proven+best.LowerBound
	}
	says := m.PerNode.GroupBound
	ok := says <= reached && (says >= proven*(1-1.1*m.Tolerance) || m.Status != "converged")
	v.add("group bound", ok, "per_node.group_bound is from %v to %v; the manifest says %v", proven, reached, says)
	return nil
}

// grouping checks who uses which layer: every node its own, or every layer by some node.
func (v *verification) grouping() bool {
	p := v.export.Manifest.PerNode
	layers, nodes := len(v.export.Layers), len(p.Layers)
	switch {
	case len(p.Losses) != nodes:
		v.add("groups", false, "there are %d per_node.losses for %d nodes", len(p.Losses), nodes)
		return false
	case p.Groups == 0:
		distinct := v.distinctLayers()
		for i, l := range p.Layers {
			if l != i || layers != nodes {
				v.add("groups", false,
					"without per_node.groups node %d of %d uses layer %d of %d; the manifest says layer %d", i, nodes,
					i, nodes, l)
				return false
			}
		}
		v.again.PerNode = &export.PerNode{Distinct: distinct}
		return v.compare("groups", "")
	}
	used := make([]bool, layers)
	for _, l := range p.Layers {
		used[l] = true
	}
	if unused := slices.Index(used, false); unused >= 0 || p.Groups < layers || p.Groups > nodes {
		v.add("groups", false, "%d layers for %d nodes, asked for %d; or layer %d of no node", layers, nodes,
			p.Groups, unused)
		return false
	}
	if p.Groups > layers {
		v.skip("per_node.groups") // groups that lost all nodes
	}
	v.again.PerNode = &export.PerNode{Distinct: layers}
	return v.compare("groups", "")
}

// distinctLayers returns how many layers differ.
func (v *verification) distinctLayers() int {
	var firsts []*mat.Dense
	for _, l := range v.export.Layers {
		if !slices.ContainsFunc(firsts, func(c *mat.Dense) bool { return mat.Equal(c, l.C) }) {
			firsts = append(firsts, l.C)
		}
	}
	return len(firsts)
}

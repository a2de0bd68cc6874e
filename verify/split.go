package verify

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/internal/lists"
	"mafalda/strategy"
	"mafalda/workload"
)

// nodeLosses checks squared error and loss, node by node, where nodes have strategies of their own, and proves the lower bounds.
func (s *costs) nodeLosses(ctx context.Context) error {
	m, sums := s.export.Manifest, make([]*mat.SymDense, len(s.all)) // Gram matrices of the nodes of a layer
	var losses []float64
	var bound float64
	err := s.eachNode(ctx, func(layer int, h *mat.SymDense) error {
		c := s.all[layer]
		q, err := factorize.Evaluate(c, factorize.Mean(h), s.schema)
		if err != nil {
			return fmt.Errorf("node %d: %w", len(losses), err)
		}
		losses = append(losses, q.SquaredError)
		if b, err := factorize.LowerBound(h, strategy.GramOf(c),
			s.schema); err == nil { // else 0: an H that is not positive definite
			bound += b
		}
		if sums[layer] == nil {
			sums[layer] = mat.NewSymDense(m.Steps, nil)
		}
		sums[layer].AddSym(sums[layer], h)
		return nil
	})
	if err != nil {
		return err
	}
	s.again.PerNode.Losses, s.again.SquaredError = losses, floats.Sum(losses)
	s.again.Loss = s.again.SquaredError * m.SensSquared
	s.compare("loss", "")
	if err := s.nodeBound(ctx, bound); err != nil {
		return err
	}
	if err := s.groupBound(ctx, sums); err != nil {
		return err
	}
	return s.optimumIs(ctx, s.h, s.schema, "shared loss", "shared_loss", &s.again.SharedLoss)
}

// eachNode calls visit with every node's layer and its Gram matrix, scaled by how much its noise counts.
func (s *costs) eachNode(ctx context.Context, visit func(layer int, h *mat.SymDense) error) error {
	m, weights := s.export.Manifest, s.weights()
	return workload.NodeGrams(ctx, s.n.Gossip.Matrix(), m.Steps, s.options(), func(i int, h *mat.SymDense) error {
		if weights != nil {
			h.ScaleSym(weights[i], h)
		}
		return visit(m.PerNode.Layers[i], h)
	})
}

// least returns the least loss for a Gram matrix, searched from a layer's strategy, and a bound of it: this strategy's and 0 for
// a matrix that is not positive definite, as no node listens to it.
func (s *costs) least(ctx context.Context, layer int, h *mat.SymDense) (loss, bound float64, err error) {
	best, err := s.optimum(ctx, h, s.schema, strategy.GramOf(s.all[layer]))
	if err == nil {
		return best.Loss, best.LowerBound, nil
	}
	q, err := factorize.Evaluate(s.all[layer], factorize.Mean(h), s.schema)
	return q.Loss, 0, err
}

// nodeBound checks the lower bound: it is proven by the nodes' strategies, or else not above losses that optima for
// single nodes reach.
func (s *costs) nodeBound(ctx context.Context, proven float64) error {
	most := proven * (1 + 1e-12)
	if s.export.Manifest.LowerBound > most {
		most = 0
		if err := s.eachNode(ctx, func(layer int, h *mat.SymDense) error {
			loss, _, err := s.least(ctx, layer, h)
			most += loss
			return err
		}); err != nil {
			return err
		}
	}
	s.lowerBoundIs(proven, most)
	return nil
}

// groupBound checks the bound for strategies of the same groups of nodes: not above losses that these reach, nor
// further below than the tolerance allows.
func (s *costs) groupBound(ctx context.Context, sums []*mat.SymDense) error {
	m := s.export.Manifest
	if m.PerNode.Groups == 0 { // every node is its own group
		s.again.PerNode.GroupBound = m.LowerBound
		s.compare("group bound", "")
		return nil
	}
	var reached, proven float64
	for layer, h := range sums {
		if h == nil {
			continue
		}
		loss, bound, err := s.least(ctx, layer, h)
		if err != nil {
			return err
		}
		reached, proven = reached+loss, proven+bound
	}
	says := m.PerNode.GroupBound
	ok := says <= reached && (says >= proven*(1-1.1*m.Tolerance) || m.Status != "converged")
	s.add("group bound", ok, "per_node.group_bound is from %v to %v; the manifest says %v", proven, reached, says)
	return nil
}

// grouping checks who uses which layer: every node its own, or every layer by some node.
func (v *verification) grouping() bool {
	p := v.export.Manifest.PerNode
	layers, nodes := len(v.export.Layers), len(p.Layers)
	used := slices.Compact(slices.Sorted(slices.Values(p.Layers)))
	ok, distinct := len(used) == layers && layers <= p.Groups && p.Groups <= nodes, layers
	if p.Groups == 0 {
		ok, distinct = layers == nodes && slices.Equal(p.Layers, lists.UpTo(nodes)), v.distinctLayers()
	}
	if !ok || len(p.Losses) != nodes {
		v.add("groups", false, "%d nodes with %d losses use %d of %d layers, asked for %d groups (0: one a node, in their order)", nodes,
			len(p.Losses), len(used), layers, p.Groups)
		return false
	}
	if p.Groups > layers {
		v.skip("per_node.groups") // groups that lost all nodes
	}
	v.again.PerNode = &export.PerNode{Distinct: distinct}
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

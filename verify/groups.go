package verify

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
)

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
		return v.compare("groups", fmt.Sprintf("%d different strategies, a layer for each of %d nodes", distinct, nodes))
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
	return v.compare("groups", fmt.Sprintf("%d strategies for %d nodes", layers, nodes))
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

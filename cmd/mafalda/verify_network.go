package main

import (
	"bytes"
	"context"
	"fmt"

	"mafalda/graph"
	"mafalda/workload"
)

// networkOf makes the network of the manifest's workload again; nil if it has none or its files are not at hand.
func (v *verification) networkOf() (*network, error) {
	kind, err := workload.ParseKind(v.export.Manifest.Workload)
	if err != nil {
		v.add("workload", false, "%v", err)
		return nil, nil
	}
	if kind == workload.Prefix {
		return nil, nil
	}
	return v.network()
}

// kernel computes again what errors on the manifest's network depend on, or returns nil if its files are not at hand.
func (v *verification) kernel(ctx context.Context) (*workload.Kernel, error) {
	m := v.export.Manifest
	n, err := v.networkOf()
	if err != nil {
		return nil, err
	}
	kind, err := workload.ParseKind(m.Workload)
	if err != nil || n == nil && kind != workload.Prefix {
		return nil, nil // networkOf has said so
	}
	k, s, err := kernelBy(ctx, m.Gram, n, kind, m.Steps, nil)
	v.sketch = s
	return k, err
}

// network makes the manifest's network again and compares it with the manifest.
func (v *verification) network() (*network, error) {
	g := v.export.Manifest.Graph
	if g == nil {
		v.add("network", false, "the manifest has no graph for its workload %q", v.export.Manifest.Workload)
		return nil, nil
	}
	f := networkFlags{source: v.flags.graph, gossip: g.Gossip, gossipFile: v.flags.gossipMatrix, directed: g.Directed}
	if g.Seed != nil {
		f.seed = *g.Seed
	}
	if f.source == "" && g.SHA256 == "" && g.Source != g.GossipFile {
		if _, known, _ := graph.ByName(g.Source, graph.BuiltinOptions{Seed: f.seed}); !known {
			v.add("network", false, "%q is no built-in graph, and the manifest has no hash of a file", g.Source)
			return nil, nil
		}
		f.source = g.Source
	}
	switch {
	case g.SHA256 != "" && f.source == "":
		v.notes = append(v.notes, fmt.Sprintf("loss and bound were not checked: name the graph with --graph (it was %s)", g.Source))
		return nil, nil
	case g.GossipFile != "" && f.gossipFile == "":
		v.notes = append(v.notes, fmt.Sprintf("loss and bound were not checked: name the gossip matrix with --gossip-matrix (it was %s)", g.GossipFile))
		return nil, nil
	}
	if g.Source == g.GossipFile {
		f.directed = false // it follows from the matrix
	}
	n, err := f.load()
	if err != nil {
		return nil, err
	}
	o := n.origin
	same := o.SHA256 == g.SHA256 && o.GossipSHA256 == g.GossipSHA256 && o.Nodes == g.Nodes && o.Edges == g.Edges && o.DroppedNodes == g.DroppedNodes
	if listed, err := v.export.Read("nodes.csv"); err == nil {
		var want bytes.Buffer
		if err := graph.WriteNodes(&want, n.graph); err != nil {
			return nil, err
		}
		v.add("nodes", bytes.Equal(listed, want.Bytes()), "nodes.csv numbers %d nodes as the network does", n.graph.Nodes())
	}
	v.add("network", same, "%s; the manifest says %d nodes, %d edges and %s", n.line(), g.Nodes, g.Edges,
		map[bool]string{true: "the same file", false: "perhaps another file"}[o.SHA256 == g.SHA256 && o.GossipSHA256 == g.GossipSHA256])
	return n, nil
}

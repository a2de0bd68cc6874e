package main

import (
	"encoding/json"

	"mafalda/export"
	"mafalda/internal/study"
	"mafalda/participation"
)

// addNetwork adds a network as it was loaded: its names and hashes, for people, and a digest of every label and
// weight.
func addNetwork(in *study.Inputs, n *network) {
	o := n.origin
	in.Add("graph", o.Source)
	in.Add("file of the graph", o.SHA256)
	if o.Seed != nil {
		in.Add("seed", *o.Seed)
	}
	in.Add("directed", o.Directed)
	in.Add("gossip", o.Gossip)
	in.Add("file of the gossip matrix", o.GossipSHA256)
	in.Add("nodes", o.Nodes)
	in.Add("dropped nodes", o.DroppedNodes)
	in.Add("weights", networkDigest(n))
}

// networkDigest is of the labels of all nodes and of all weights of the gossip matrix.
func networkDigest(n *network) string {
	d := study.NewDigest()
	d.Strings(n.graph.Labels())
	d.Int(n.graph.Edges())
	n.gossip.Matrix().DoNonZero(func(i, j int, v float64) {
		d.Int(i)
		d.Int(j)
		d.Float(v)
	})
	return d.Sum()
}

// addSchema adds who takes part when: of a file its patterns, not its name.
func addSchema(in *study.Inputs, f *schemaFlags, s participation.Schema) {
	p := f.describe(s)
	p.Source = ""
	text, _ := json.Marshal(p) // numbers and a name
	in.Add("T", s.Steps())
	in.Add("participation", string(text))
}

// exportDigest is of an export whose hashes have been checked: they are in its manifest, and so the manifest
// stands for every byte.
func exportDigest(e *export.Export) (string, error) {
	d := study.NewDigest()
	text, err := json.Marshal(e.Manifest)
	d.Bytes(text)
	return d.Sum(), err
}

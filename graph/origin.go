package graph

import (
	"fmt"

	"mafalda/study"
)

// Origin says where a network came from, for a manifest: names, and hashes of files.
type Origin struct {
	Source       string  `json:"source"`           // file name or specification
	SHA256       string  `json:"sha256,omitempty"` // of the file
	Seed         *uint64 `json:"seed,omitempty"`   // of a random graph
	Nodes        int     `json:"nodes"`            // after dropping
	Edges        int     `json:"edges"`
	DroppedNodes int     `json:"dropped_nodes,omitempty"` // outside the largest component
	Directed     bool    `json:"directed,omitempty"`
	Gossip       string  `json:"gossip"`                  // scheme, or "file"
	GossipFile   string  `json:"gossip_file,omitempty"`   // of a gossip matrix that was loaded
	GossipSHA256 string  `json:"gossip_sha256,omitempty"` // of that file

	SequenceFile   string `json:"sequence_file,omitempty"`   // of networks that take turns
	SequenceSHA256 string `json:"sequence_sha256,omitempty"` // of that file
}

// GossipLine names the gossip matrix: its file, or the scheme it was made by.
func (o *Origin) GossipLine() string {
	if o.GossipFile != "" {
		return o.GossipFile
	}
	return o.Gossip
}

// Same reports whether the other network has the same names, hashes and number of nodes. Seeds are not compared.
func (o *Origin) Same(as *Origin) bool {
	return o.Source == as.Source && o.SHA256 == as.SHA256 && o.Gossip == as.Gossip &&
		o.GossipSHA256 == as.GossipSHA256 && o.SequenceSHA256 == as.SequenceSHA256 && o.Nodes == as.Nodes
}

// Line says in a line what the network is.
func (n *Network) Line() string { return n.Origin.Line() }

// Line says in a line what network it was.
func (o Origin) Line() string {
	kind := "undirected"
	if o.Directed {
		kind = "directed"
	}
	s := fmt.Sprintf("%s: %d nodes, %d %s edges", o.Source, o.Nodes, o.Edges, kind)
	if o.DroppedNodes > 0 {
		s += fmt.Sprintf(" (largest component, %d nodes dropped)", o.DroppedNodes)
	}
	return s
}

// Digest is the SHA-256 of all that results can depend on: the labels of all nodes and all weights of the gossip
// matrix, and of those that take turns in its place.
func (n *Network) Digest() string {
	d := study.NewDigest()
	d.Strings(n.Graph.Labels())
	d.Int(n.Graph.Edges())
	add := func(w *CSR) {
		w.DoNonZero(func(i, j int, v float64) {
			d.Int(i)
			d.Int(j)
			d.Float(v)
		})
	}
	add(n.Gossip.Matrix())
	if n.Sequence != nil {
		for _, w := range n.Sequence.Matrices {
			d.Int(w.NNZ())
			add(w)
		}
	}
	return d.Sum()
}

// AddTo adds the network to the inputs of a study: its names and hashes, for people, and its Digest.
func (n *Network) AddTo(in *study.Inputs) {
	o := n.Origin
	in.Add("graph", o.Source)
	in.Add("file of the graph", o.SHA256)
	if o.Seed != nil {
		in.Add("seed", *o.Seed)
	}
	in.Add("directed", o.Directed)
	in.Add("gossip", o.Gossip)
	in.Add("file of the gossip matrix", o.GossipSHA256)
	if o.SequenceSHA256 != "" {
		in.Add("file of the sequence", o.SequenceSHA256)
	}
	in.Add("nodes", o.Nodes)
	in.Add("dropped nodes", o.DroppedNodes)
	in.Add("weights", n.Digest())
}

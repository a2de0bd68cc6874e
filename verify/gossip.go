package verify

import (
	"slices"

	"mafalda/graph"
	"mafalda/internal/version"
)

// contract checks that the words say what the numbers do. Those of other versions may be other words.
func (v *verification) contract() {
	m := v.export.Manifest
	switch {
	case slices.Equal(m.Contract, m.DescribeContract()):
		v.add("contract", true, "it says what the other fields do")
	case m.Contract != nil && m.Version != version.String():
		v.skip("contract")
	default:
		v.add("contract", false, "it does not say what the other fields do")
	}
}

// gossip checks that the matrices of the export are gossip matrices of as many nodes as the manifest says, and keeps
// them for the comparison with the network's.
func (v *verification) gossip() {
	m := v.export.Manifest
	if !m.HasGossip() {
		return
	}
	if m.Graph == nil {
		v.add("gossip", false, "there is a gossip matrix, and no network")
		return
	}
	all, err := v.export.Gossip()
	if err != nil {
		v.add("gossip", false, "%v", err)
		return
	}
	if m.WorkloadSpec.RandomNeighbours > 0 {
		v.add("gossip", false, "there is a gossip matrix, where every node averages over others at random")
		return
	}
	v.exported = all
	v.add("gossip", true, "the rows of W sum to one, those of %d nodes", m.Graph.Nodes)
}

// compareGossip compares the matrices of the export, if they are known, with the network's.
func (v *verification) compareGossip(n *graph.Network) {
	if v.exported == nil {
		return
	}
	if slices.EqualFunc(v.exported, n.Matrices(), (*graph.CSR).Equal) {
		v.add("weights", true, "W is that of the network, to the last bit")
	} else {
		v.add("weights", false, "W is not that of the network")
	}
}

package verify

import (
	"fmt"
	"slices"
	"strings"

	"mafalda/export"
	"mafalda/internal/version"
)

// files checks that the folder holds what the manifest lists, and nothing else.
func (v *verification) files() {
	if len(v.export.Mismatch) == 0 {
		v.add("hashes", true, "%d files", len(v.export.Manifest.Files))
	}
	for _, m := range v.export.Mismatch {
		v.add("hashes", false, "%s", m)
	}
	if len(v.export.Extra) > 0 {
		v.add("extra files", false, "the folder holds what the manifest does not list: %s",
			strings.Join(v.export.Extra, ", "))
	}
}

// participation checks that the schema is written as it would be: another k or b for the same one is a contradiction.
func (v *verification) participation() {
	v.again.Participation = export.DescribeSchema("", v.asked)
	if says := v.export.Manifest.Participation; says.Schema == "patterns" {
		v.again.Participation.Source = says.Source
		v.skip("participation.source")
	}
	v.compare("schema", fmt.Sprint(v.asked))
}

// privacy checks the noise against the claimed guarantee.
func (v *verification) privacy() {
	if err := v.export.Manifest.CheckPrivacy(); err != nil {
		v.add("privacy", false, "%v", err)
		return
	}
	p := v.export.Manifest.Privacy
	if p == nil {
		v.add("privacy", true, "none is claimed: whoever draws noise must choose its level")
		v.skip("privacy")
		return
	}
	v.add("privacy", true, "%s takes noise of standard deviation %v, as the manifest says", v.export.Manifest.Guarantee(),
		p.NoiseStd)
}

// contract checks that the words say what the numbers do. Those of other versions may be other words, but none may have
// batches come in turn for ever, or any k of all steps, where T > k·b.
func (v *verification) contract() {
	m := v.export.Manifest
	p := m.Participation
	forever := fmt.Sprintf("step t uses batch t mod %d, so that a record is in %d steps", p.B, p.K)
	switch {
	case slices.Equal(m.Contract, m.DescribeContract()):
		v.add("contract", true, "it says what the other fields do")
	case (m.Steps-1)/p.B/p.K > 0 && slices.ContainsFunc(m.Contract, func(s string) bool {
		return strings.Contains(s, forever) || strings.Contains(s, "take part in every step")
	}):
		v.add("contract", false, "batches in turn for T = %d steps put a record into more than k = %d of them", m.Steps, p.K)
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

package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/limits"
	"mafalda/measure"
	"mafalda/workload"
)

// network returns the network of the manifest's workload, compared; nil for the prefix workload, which has none. It is
// not known if the manifest does not say what it was, or its files are not at hand; then a check or Missing says so.
func (v *verification) network(ctx context.Context) (n *graph.Network, known bool, err error) {
	n, err = v.given, checkNetworkKind(v.export.Manifest)
	if err == nil && n == nil {
		var o graph.NetworkOptions
		if o, err = NetworkOptions(v.export.Manifest, NetworkFiles{}); err == nil {
			n, err = graph.LoadNetwork(ctx, o)
		}
	}
	var (
		wrong   *FailedError
		missing *MissingFilesError
	)
	switch {
	case err == nil:
		if err := v.compareNetwork(n); err != nil {
			return nil, false, err
		}
		known, err = v.attach(n)
		return n, known, err
	case errors.As(err, &wrong):
		v.add(wrong.Check.Name, false, "%s", wrong.Check.Detail)
		return nil, false, nil
	case errors.As(err, &missing):
		v.Missing = missing.Files
		v.skipNetwork()
		return nil, false, nil
	case errors.Is(err, ErrNoNetwork) && v.given == nil:
		return nil, true, nil
	}
	return nil, false, err
}

// kernel computes again what errors on the network depend on.
func (v *verification) kernel(ctx context.Context, n *graph.Network) (*workload.Kernel, error) {
	m := v.export.Manifest
	if err := v.checkSketch(n); err != nil {
		return nil, err
	}
	k, s, err := measure.Source{Gram: m.Gram, Network: n, Workload: v.spec, Weights: v.weights()}.Kernel(ctx, m.Steps)
	v.estimated = s
	return k, err
}

// weights returns how much the noise of every node counts; nil where all have one level.
func (v *verification) weights() []float64 {
	if v.export.Manifest.Budgets == nil {
		return nil
	}
	return export.LevelWeights(v.export.Manifest.Budgets)
}

// checkSketch refuses estimates that the machine has no room for, and notes what of them has no effect.
func (v *verification) checkSketch(n *graph.Network) error {
	g := v.export.Manifest.Gram
	switch {
	case g == nil:
		v.skip("gram")
		return nil
	case g.Method == "exact" || n == nil:
		if *g != (export.Gram{Method: g.Method}) {
			v.add("gram", false,
				"probes, lanczos_steps, seed, confidence, loss_error and excess_bound are of estimates; the manifest says exact")
		}
		return nil
	}
	if g.Method == measure.GramSampled.String() {
		return limits.Fits(fmt.Sprintf("an estimate from %d runs", g.Probes),
			8*measure.ChangingNeeds(g, v.spec, n.Gossip.Matrix(), v.export.Manifest.Steps))
	}
	nodes := n.Graph.Nodes()
	if g.LanczosSteps >= min(nodes, v.export.Manifest.Steps) { // exact for all powers that there are
		v.skip("gram.lanczos_steps")
	}
	m := float64(min(g.LanczosSteps, nodes))
	return limits.Fits(fmt.Sprintf("an estimate from %d probes of %d Lanczos steps", g.Probes, g.LanczosSteps),
		8*float64(g.Probes)*m*(m+2))
}

// skipNetwork lists all that depends on the network.
func (v *verification) skipNetwork() {
	for _, r := range rules() {
		if r.network && (r.absent || v.has(r.key)) {
			v.skip(r.key)
		}
	}
}

// writeNodes writes nodes.csv as the export of a graph has it.
func (v *verification) writeNodes(w io.Writer, g *graph.Graph) error {
	if v.export.Shared == nil {
		return graph.WriteNodes(w, g)
	}
	if len(v.export.Shared.Own) != g.Nodes() {
		return graph.WriteNodes(w, g) // another graph
	}
	return v.export.Shared.Nodes(g).Write(w)
}

// compareNetwork compares the network with what the manifest says of it.
func (v *verification) compareNetwork(n *graph.Network) error {
	g, o := v.export.Manifest.Graph, n.Origin
	if listed, err := v.export.Read("nodes.csv"); err == nil {
		var want bytes.Buffer
		if err := v.writeNodes(&want, n.Graph); err != nil {
			return err
		}
		if bytes.Equal(listed, want.Bytes()) {
			v.add("nodes", true, "nodes.csv numbers %d nodes as the network does", n.Graph.Nodes())
		} else {
			v.add("nodes", false, "nodes.csv has other nodes, labels or degrees than the network")
		}
	}
	is := o
	v.again.Graph = &is
	if o.SHA256 == "" && o.GossipFile != o.Source {
		is.Seed = g.Seed
		v.seedOf(n)
	} else { // from a file
		is.Source, is.Seed = g.Source, nil
		v.skip("graph.source")
	}
	if o.GossipFile != "" || g.GossipFile != "" {
		v.skip("graph.gossip_file")
	}
	if o.SequenceFile != "" || g.SequenceFile != "" {
		v.skip("graph.sequence_file")
	}
	if v.compare("network", n.Line()+", as the manifest says") {
		v.compareGossip(n)
	}
	return nil
}

// seedOf notes a seed that is missing, or that the graph does not depend on.
func (v *verification) seedOf(n *graph.Network) {
	says := v.export.Manifest.Graph.Seed
	if n.Origin.Seed == nil && says == nil {
		return
	}
	if says != nil {
		other, known, err := graph.ByName(n.Origin.Source, graph.BuiltinOptions{Seed: *says + 1})
		if known && (err != nil || !sameEdges(other, n.Graph)) {
			return
		}
	}
	v.skip("graph.seed")
}

func sameEdges(a, b *graph.Graph) bool {
	x, y := a.Adjacency(), b.Adjacency()
	if a.Nodes() != b.Nodes() || x.NNZ() != y.NNZ() {
		return false
	}
	same := true
	x.DoNonZero(func(i, j int, w float64) { same = same && y.At(i, j) == w })
	return same
}

package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

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
	k, s, err := measure.Source{Gram: m.Gram, Network: n, Workload: v.spec}.Kernel(ctx, m.Steps)
	v.estimated = s
	return k, err
}

// checkSketch refuses estimates that the machine has no room for, and notes what of them has no effect.
func (v *verification) checkSketch(n *graph.Network) error {
	g := v.export.Manifest.Gram
	switch {
	case g == nil:
		v.skip("gram")
		return nil
	case g.Method == "exact" || n == nil:
		if g.Probes != 0 || g.LanczosSteps != 0 || g.Seed != 0 || g.LossError != nil || g.ExcessBound != nil {
			v.add("gram", false,
				"probes, lanczos_steps, seed, loss_error and excess_bound are of estimates; the manifest says exact")
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
	m := v.export.Manifest
	v.skip("graph", "workload")
	if m.WorkloadSpec != nil {
		v.skip("workload_spec")
	}
	for _, x := range []struct {
		key   string
		there bool
	}{{"objective", true}, {"objective_weights", m.Weights != nil}, {"gram", true}, {"strategy.ratio",
		m.Strategy.Ratio != 0},
		{"strategy.class_bound", m.Strategy.ClassBound != 0}, {"strategy.class_gap", m.Strategy.ClassGap != nil},
		{"per_node", m.PerNode != nil},
		{"squared_error", true}, {"loss", true}, {"rmse", true}, {"shared_loss", m.SharedLoss != 0}, {"lower_bound",
			m.LowerBound != 0},
		{"gap", m.LowerBound != 0}, {"baselines", true}, {"plain_strategy_loss", m.PlainStrategyLoss != 0},
		{"error_at_privacy", m.ErrorAtPrivacy != 0}, {"space.secrets", m.Space != nil}, {"space.gap_space", m.Space != nil},
		{"space.gap_time", m.Space != nil}, {"ldp_loss", m.Space != nil}, {"joint_lower_bound", m.Space != nil},
		{"cyclic_error_at_privacy", m.CyclicErrorAtPrivacy != 0}} {
		if x.there {
			v.skip(x.key)
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
	var wrong []string
	differ := func(what string, is, says any) {
		if is != says {
			wrong = append(wrong, fmt.Sprintf("%s is %v; the manifest says %v", what, is, says))
		}
	}
	differ("graph.sha256", o.SHA256, g.SHA256)
	differ("graph.gossip_sha256", o.GossipSHA256, g.GossipSHA256)
	differ("graph.nodes", o.Nodes, g.Nodes)
	differ("graph.edges", o.Edges, g.Edges)
	differ("graph.dropped_nodes", o.DroppedNodes, g.DroppedNodes)
	differ("graph.directed", o.Directed, g.Directed)
	differ("graph.gossip", o.Gossip, g.Gossip)
	if o.SHA256 == "" && o.GossipFile != o.Source {
		differ("graph.source", o.Source, g.Source)
		v.seedOf(n)
	} else {
		v.skip("graph.source")
		if g.Seed != nil {
			wrong = append(wrong, "a graph from a file has no graph.seed")
		}
	}
	if o.GossipFile != "" || g.GossipFile != "" {
		v.skip("graph.gossip_file")
	}
	differ("graph.sequence_sha256", o.SequenceSHA256, g.SequenceSHA256)
	if o.SequenceFile != "" || g.SequenceFile != "" {
		v.skip("graph.sequence_file")
	}
	if len(wrong) > 0 {
		v.add("network", false, "%s: %s", n.Line(), strings.Join(wrong, "; "))
		return nil
	}
	v.add("network", true, "%s, as the manifest says", n.Line())
	v.compareGossip(n)
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

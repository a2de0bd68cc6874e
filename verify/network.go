package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/limits"
	"mafalda/measure"
	"mafalda/workload"
)

// Member returns an export for one of several networks, unknown which, as an export for that one alone.
func Member(e *export.Export, i int) *export.Export {
	one, m := *e, *e.Manifest
	m.Graph, m.Family, one.Manifest = &e.Manifest.Family.Graphs[i], nil, &m
	return &one
}

// network returns the network of the manifest's workload, compared, or the first of several; nil for the prefix workload,
// which has none. It is not known if the manifest does not say what it was, or its files are not at hand; then a check or
// Missing says so.
func (v *verification) network(ctx context.Context) (n *graph.Network, known bool, err error) {
	if v.export.Manifest.Networks() == 0 {
		return v.oneNetwork(ctx)
	}
	known, v.others = true, nil
	for i, given := range v.members {
		of := &verification{Report: Report{watch: v.watch}, export: Member(v.export, i), given: given, spec: v.spec}
		n, is, err := of.oneNetwork(ctx)
		if err != nil {
			return nil, false, err
		}
		v.Checks, v.others, known = append(v.Checks, of.Checks...), append(v.others, n), known && is
		for _, key := range of.NotChecked {
			if is {
				v.skip(strings.Replace(key, "graph", fmt.Sprintf("family.graphs[%d]", i), 1))
			}
		}
		if name := of.Missing.Graph; name != "" {
			v.Missing.Graph = strings.TrimPrefix(v.Missing.Graph+", "+name, ", ")
		}
	}
	if !known {
		v.skipNetwork()
		return nil, false, nil
	}
	n, v.others = v.others[0], v.others[1:]
	return n, true, nil
}

// oneNetwork is network for one.
func (v *verification) oneNetwork(ctx context.Context) (n *graph.Network, known bool, err error) {
	n, err = v.given, checkNetworkKind(v.export.Manifest)
	if err == nil && n == nil {
		var o graph.NetworkOptions
		if o, err = NetworkOptions(v.export.Manifest, NetworkFiles{}); err == nil {
			n, err = graph.LoadNetwork(ctx, o)
		}
	}
	_, isWrong := errors.AsType[*FailedError](err)
	missing, isMissing := errors.AsType[*MissingFilesError](err)
	switch {
	case err == nil:
		if err := v.compareNetwork(n); err != nil {
			return nil, false, err
		}
		return n, v.attach(n), nil
	case isWrong:
		return nil, false, v.computing("network", err)
	case isMissing:
		v.Missing = missing.Files
		v.skipNetwork()
		return nil, false, nil
	case errors.Is(err, ErrNoNetwork) && v.given == nil:
		return nil, true, nil
	}
	return nil, false, err
}

// source returns what errors on the network depend on, with the weights of the nodes.
func (v *verification) source(n *graph.Network, weights []float64) measure.Source {
	m := v.export.Manifest
	on := measure.Source{Gram: m.Gram, Network: n, Others: v.others, Workload: v.spec, Curvature: m.Curvature.Curvature(), Weights: weights}
	if len(v.others) > 0 {
		on.Mixture = m.Family.Weights
	}
	return on
}

// options returns what Gram matrices are computed by.
func (v *verification) options() workload.Options { return v.source(nil, nil).Options(nil) }

// gramKernel computes again what errors on the network depend on.
func (v *verification) gramKernel(ctx context.Context, n *graph.Network) (*workload.Kernel, error) {
	k, s, err := v.source(n, v.weights()).Kernel(ctx, v.export.Manifest.Steps)
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
	if g.LanczosSteps >= min(nodes, v.export.Manifest.Steps) { // exact for all powers below the steps
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

// writeNodes writes the nodes.csv that an export of this graph has to have; where nodes share noise, with their own_std.
func (v *verification) writeNodes(w io.Writer, g *graph.Graph) error {
	if s := v.export.Shared; s != nil && len(s.Own) == g.Nodes() { // else it is another graph
		return s.Nodes(g).Write(w)
	}
	return graph.WriteNodes(w, g)
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
		if known && (err != nil || !other.Adjacency().Equal(n.Graph.Adjacency())) {
			return
		}
	}
	v.skip("graph.seed")
}

// ErrNoNetwork is returned for exports of the prefix workload, which has no network, and by NetworkOf where it is
// unknown which one it will be.
var ErrNoNetwork = errors.New("the prefix workload has no network")

// NetworkFiles are the files of a network: paths, or the names of those that an export was made from. Empty: none.
type NetworkFiles struct {
	Graph         string
	GossipMatrix  string
	GraphSequence string
}

// MissingFilesError says that the network of an export came from files, which have to be named.
type MissingFilesError struct {
	Files NetworkFiles // their names when the export was made; those that were named are empty
}

func (e *MissingFilesError) Error() string {
	var names []string
	for _, f := range [][2]string{{"the graph ", e.Files.Graph}, {"the gossip matrix ", e.Files.GossipMatrix},
		{"the sequence of networks ", e.Files.GraphSequence}} {
		if f[1] != "" {
			names = append(names, f[0]+f[1])
		}
	}
	return "the network's files are not at hand: " + strings.Join(names, " and ")
}

// NetworkOptions returns how to load again the network of a manifest, with its files at the given paths. It is a
// MissingFilesError if there are more of them, ErrNoNetwork for the prefix workload, and a FailedError if the manifest
// does not say what network it was.
func NetworkOptions(m *export.Manifest, at NetworkFiles) (graph.NetworkOptions, error) {
	var o graph.NetworkOptions
	if err := checkNetworkKind(m); err != nil {
		return o, err
	}
	g := m.Graph
	o = graph.NetworkOptions{Source: at.Graph, GossipFile: at.GossipMatrix, GraphSequence: at.GraphSequence}
	o.Directed = g.Directed && g.Source != g.GossipFile // else it follows from the matrix
	if g.Seed != nil {
		o.Seed = *g.Seed
	}
	if o.Source == "" && g.SHA256 == "" && g.Source != g.GossipFile {
		if _, known, err := graph.ByName(g.Source, graph.BuiltinOptions{Seed: o.Seed}); !known || err != nil {
			return o, failed("network",
				"%q is no built-in graph that can be made, and the manifest has no hash of a file", g.Source)
		}
		o.Source = g.Source
	}
	unless := func(at, name string) string {
		if at == "" {
			return name
		}
		return ""
	}
	missing := NetworkFiles{GossipMatrix: unless(o.GossipFile, g.GossipFile), GraphSequence: unless(o.GraphSequence, g.SequenceFile)}
	if g.SHA256 != "" {
		missing.Graph = unless(o.Source, g.Source)
	}
	if missing != (NetworkFiles{}) {
		return o, &MissingFilesError{missing}
	}
	var err error
	if o.GossipFile == "" {
		o.Scheme, err = graph.ParseScheme(g.Gossip)
	}
	return o, err
}

// checkNetworkKind returns nil if the manifest says that it has a network.
func checkNetworkKind(m *export.Manifest) error {
	kind, err := workload.ParseKind(m.Workload)
	switch {
	case err != nil:
		return failed("workload", "%v", err)
	case kind == workload.Prefix && m.Graph != nil:
		return failed("network", "the prefix workload has none; the manifest has a graph")
	case kind == workload.Prefix:
		return ErrNoNetwork
	case m.Graph == nil:
		return failed("network", "the manifest has no graph for its workload %q", m.Workload)
	}
	return nil
}

// NetworkOf returns the network of an export: the one given or, if that is nil, the one made again from the manifest
// alone, after comparing it with what the manifest says. It fails with a FailedError if they differ, as NetworkOptions
// and graph.LoadNetwork do, and for an impossible schema.
func NetworkOf(ctx context.Context, e *export.Export, given *graph.Network) (*graph.Network, error) {
	if e.Manifest.Networks() > 0 {
		return nil, ErrNoNetwork
	}
	v, err := newVerification(e, given)
	if err != nil {
		return nil, err
	}
	n, known, err := v.network(ctx)
	if err != nil {
		return nil, err
	}
	if failures := v.Failures(); len(failures) > 0 {
		return nil, &FailedError{failures[0]}
	}
	switch {
	case !known:
		return nil, &MissingFilesError{v.Missing}
	case n == nil:
		return nil, ErrNoNetwork
	}
	return n, nil
}

// attach completes the workload with the networks that take turns. It reports whether the workload is known then; if
// not, Missing or a failed check says why.
func (v *verification) attach(n *graph.Network) (known bool) {
	q := v.spec.GraphSequence
	switch {
	case q == nil || n == nil:
		return true
	case q.Source != v.export.Manifest.Graph.SequenceFile:
		v.add("sequence", false, "its file is %q for the workload, and %q for the graph", q.Source,
			v.export.Manifest.Graph.SequenceFile)
		return false
	case n.Sequence == nil:
		v.Missing = NetworkFiles{GraphSequence: q.Source}
		if q.Source == "" {
			v.Missing.GraphSequence = "(without a name)"
		}
		v.skipNetwork()
		return false
	}
	on, err := v.spec.Attached(n)
	if err != nil {
		v.add("sequence", false, "%v", err)
		return false
	}
	v.spec = on
	v.add("sequence", true, "%d networks that take turns, with the SHA-256 of the manifest", q.Networks)
	return true
}

// compareGossip compares the matrices of the export, if they are known, with the network's.
func (v *verification) compareGossip(n *graph.Network) {
	if v.exported == nil {
		return
	}
	text := "W is that of the network, to the last bit"
	same := slices.EqualFunc(v.exported, n.Matrices(), (*graph.CSR).Equal)
	if !same {
		text = "W is not that of the network"
	}
	v.add("weights", same, "%s", text)
}

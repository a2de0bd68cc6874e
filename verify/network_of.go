package verify

import (
	"context"
	"errors"
	"strings"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/workload"
)

// ErrNoNetwork is returned for exports of the prefix workload: it has no network.
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
	if e.Files.Graph != "" {
		names = append(names, "the graph "+e.Files.Graph)
	}
	if e.Files.GossipMatrix != "" {
		names = append(names, "the gossip matrix "+e.Files.GossipMatrix)
	}
	if e.Files.GraphSequence != "" {
		names = append(names, "the sequence of networks "+e.Files.GraphSequence)
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
	var missing NetworkFiles
	if g.SHA256 != "" && o.Source == "" {
		missing.Graph = g.Source
	}
	if g.GossipFile != "" && o.GossipFile == "" {
		missing.GossipMatrix = g.GossipFile
	}
	if g.SequenceFile != "" && o.GraphSequence == "" {
		missing.GraphSequence = g.SequenceFile
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

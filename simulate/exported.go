package simulate

import (
	"errors"
	"fmt"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/strategy"
)

// ErrOtherNetwork is about strategies of the nodes of another network.
var ErrOtherNetwork = errors.New("its nodes have strategies of their own, for another network")

// StepsError is about an export for another number of steps than the run's. It wraps ErrParticipation.
type StepsError struct {
	Dir        string
	Steps, Run int
}

func (e *StepsError) Error() string {
	return fmt.Sprintf("%s: %v: it is for T = %d steps, the run has %d", e.Dir, ErrParticipation, e.Steps, e.Run)
}

// Unwrap returns ErrParticipation.
func (e *StepsError) Unwrap() error { return ErrParticipation }

// exported makes a method of the export in a folder, for the participation that it was made for, on a network. The
// errors are those of reading and checking the export, a StepsError, ErrParticipation of a run that does not keep to
// the export's schema, and ErrOtherNetwork.
func exported(dir string, n *graph.Network, schema participation.Schema) (m method, note string, err error) {
	e, err := export.Load(dir)
	if err != nil {
		return m, "", err
	}
	if err := e.CheckHashes(); err != nil {
		return m, "", err
	}
	if e.Manifest.Steps != schema.Steps() {
		return m, "", &StepsError{dir, e.Manifest.Steps, schema.Steps()}
	}
	c, err := correlationOf(e, n, schema)
	if err != nil {
		return m, "", fmt.Errorf("%s: %w", dir, err)
	}
	if g := e.Manifest.Graph; e.Manifest.PerNode == nil && g != nil && !sameOrigin(g, &n.Origin) {
		note = fmt.Sprintf("%s was made for another network (%s): it is as private, but not the optimum here", dir,
			g.Source)
	}
	digest, err := e.Digest()
	return method{name: dir, export: digest, correlation: c}, note, err
}

func correlationOf(e *export.Export, n *graph.Network, schema participation.Schema) (*Correlation, error) {
	of, err := e.Manifest.Participation.Of(e.Manifest.Steps)
	if err != nil {
		return nil, err
	}
	if err := CheckCycle(of, schema.Separation()); err != nil {
		return nil, fmt.Errorf("its privacy is for %v: %w", of, err)
	}
	strategies, err := strategiesOf(e, n)
	if err != nil {
		return nil, err
	}
	return NewCorrelation(len(strategies), func(u int) strategy.Strategy { return strategies[u] }, of)
}

// strategiesOf returns the strategy of every node of the network: what all nodes share, or, where nodes have their
// own, that of the node with the same label.
func strategiesOf(e *export.Export, n *graph.Network) ([]strategy.Strategy, error) {
	at := make([]int, n.Graph.Nodes()) // the node of the export
	if e.Manifest.PerNode != nil {
		var err error
		if at, err = sameNodes(e, n); err != nil {
			return nil, err
		}
	}
	layers := map[int]strategy.Strategy{} // one value a layer, whose work is then shared
	strategies := make([]strategy.Strategy, len(at))
	for u, node := range at {
		layer := 0
		if e.Manifest.PerNode != nil {
			layer = e.Manifest.PerNode.Layers[node]
		}
		if layers[layer] == nil {
			var err error
			if layers[layer], err = e.Strategy(node); err != nil {
				return nil, err
			}
		}
		strategies[u] = layers[layer]
	}
	return strategies, nil
}

// sameNodes returns for every node of the network the index of the one with its label in the export. The networks
// must be the same: gossip, labels, degrees, and for graphs that are made what they are made of. The order of the
// nodes may be another, as it is if the lines of a graph's file are, unless the gossip matrix is a file, whose
// rows have no labels.
func sameNodes(e *export.Export, n *graph.Network) ([]int, error) {
	was, is := e.Manifest.Graph, n.Origin
	if was == nil || was.Gossip != is.Gossip || was.GossipSHA256 != is.GossipSHA256 || was.Directed != is.Directed {
		return nil, fmt.Errorf("%w: it has other gossip", ErrOtherNetwork)
	}
	sameSeed := was.Seed == nil && is.Seed == nil || was.Seed != nil && is.Seed != nil && *was.Seed == *is.Seed
	if was.SHA256 == "" && is.SHA256 == "" && (was.Source != is.Source || !sameSeed) {
		return nil, fmt.Errorf("%w: %s", ErrOtherNetwork, was.Source)
	}
	nodes, err := e.Nodes()
	if err != nil {
		return nil, err
	}
	if len(nodes) != n.Graph.Nodes() {
		return nil, fmt.Errorf("%w: %d nodes, not %d", ErrOtherNetwork, len(nodes), n.Graph.Nodes())
	}
	at := make([]int, n.Graph.Nodes())
	for u := range at {
		label, degree := n.Graph.Label(u), n.Graph.Degree(u)
		line, there := nodes[label]
		switch {
		case !there:
			return nil, fmt.Errorf("%w: it has no node %q", ErrOtherNetwork, label)
		case line.Degree != degree:
			return nil, fmt.Errorf("%w: node %q has degree %d there and %d here", ErrOtherNetwork, label, line.Degree, degree)
		case line.Index != u && was.GossipSHA256 != "":
			return nil, fmt.Errorf("%w: node %q is another row of the gossip matrix", ErrOtherNetwork, label)
		}
		at[u] = line.Index
	}
	return at, nil
}

// sameOrigin reports whether a shared strategy was made for this network.
func sameOrigin(a, b *graph.Origin) bool {
	return a.Source == b.Source && a.SHA256 == b.SHA256 && a.Gossip == b.Gossip && a.GossipSHA256 == b.GossipSHA256 &&
		a.Nodes == b.Nodes
}

package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/simulate"
	"mafalda/strategy"
)

// readMethod makes the correlation of an export, for the participation that it was made for.
func (s *simulation) readMethod(dir string, schema participation.Schema) (method, error) {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return method{}, fmt.Errorf("method %q is none of %s, nor a folder", dir, strings.Join(methodNames, ", "))
	}
	e, err := export.Load(dir)
	if err != nil {
		return method{}, err
	}
	if err := e.CheckHashes(); err != nil {
		return method{}, err
	}
	m := e.Manifest
	if m.Steps != schema.Steps() {
		return method{}, fmt.Errorf("%s: %w: it is for T = %d steps, the run has %d (use --T %d)", dir,
			simulate.ErrParticipation, m.Steps, schema.Steps(), m.Steps)
	}
	of, err := m.Participation.Of(m.Steps)
	if err != nil {
		return method{}, fmt.Errorf("%s: %w", dir, err)
	}
	if err := simulate.CheckCycle(of, schema.Separation()); err != nil {
		return method{}, fmt.Errorf("%s: its privacy is for %v: %w", dir, of, err)
	}
	strategies, err := s.strategiesOf(e)
	if err != nil {
		return method{}, fmt.Errorf("%s: %w", dir, err)
	}
	c, err := simulate.NewCorrelation(len(strategies), func(u int) strategy.Strategy { return strategies[u] }, of)
	if err != nil {
		return method{}, fmt.Errorf("%s: %w", dir, err)
	}
	if m.PerNode == nil && m.Graph != nil && !s.sameNetwork(m.Graph) && !s.flags.quiet {
		fmt.Fprintf(s.notes, "%s was made for another network (%s): it is as private, but not the optimum here\n", dir,
			m.Graph.Source)
	}
	digest, err := exportDigest(e)
	return method{dir, digest, c}, err
}

// strategiesOf returns the strategy of every node of the network: what all nodes share, or, where nodes have their
// own, that of the node with the same label.
func (s *simulation) strategiesOf(e *export.Export) ([]strategy.Strategy, error) {
	at := make([]int, s.network.Graph.Nodes()) // the node of the export
	if e.Manifest.PerNode != nil {
		var err error
		if at, err = s.sameNodes(e); err != nil {
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

// errOtherNetwork is about strategies of the nodes of another network.
var errOtherNetwork = errors.New("its nodes have strategies of their own, for another network")

// sameNodes returns for every node of the network the index of the one with its label in the export. The networks
// must be the same: gossip, labels, degrees, and for graphs that are made what they are made of. The order of the
// nodes may be another, as it is if the lines of a graph's file are, unless the gossip matrix is a file, whose
// rows have no labels.
func (s *simulation) sameNodes(e *export.Export) ([]int, error) {
	g, o := e.Manifest.Graph, s.network.Origin
	if g == nil || g.Gossip != o.Gossip || g.GossipSHA256 != o.GossipSHA256 || g.Directed != o.Directed {
		return nil, fmt.Errorf("%w: it has other gossip", errOtherNetwork)
	}
	sameSeed := g.Seed == nil && o.Seed == nil || g.Seed != nil && o.Seed != nil && *g.Seed == *o.Seed
	if g.SHA256 == "" && o.SHA256 == "" && (g.Source != o.Source || !sameSeed) {
		return nil, fmt.Errorf("%w: %s", errOtherNetwork, g.Source)
	}
	nodes, err := nodesOf(e)
	if err != nil {
		return nil, err
	}
	graph := s.network.Graph
	if len(nodes) != graph.Nodes() {
		return nil, fmt.Errorf("%w: %d nodes, not %d", errOtherNetwork, len(nodes), graph.Nodes())
	}
	at := make([]int, graph.Nodes())
	for u := range at {
		n, there := nodes[graph.Label(u)]
		switch {
		case !there:
			return nil, fmt.Errorf("%w: it has no node %q", errOtherNetwork, graph.Label(u))
		case n.degree != graph.Degree(u):
			return nil, fmt.Errorf("%w: node %q has degree %d there and %d here", errOtherNetwork, graph.Label(u), n.degree,
				graph.Degree(u))
		case n.index != u && g.GossipSHA256 != "":
			return nil, fmt.Errorf("%w: node %q is another row of the gossip matrix", errOtherNetwork, graph.Label(u))
		}
		at[u] = n.index
	}
	return at, nil
}

// exportedNode is a line of nodes.csv.
type exportedNode struct{ index, degree int }

// nodesOf returns the nodes of an export by their labels.
func nodesOf(e *export.Export) (map[string]exportedNode, error) {
	text, err := e.Read("nodes.csv")
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("nodes.csv: %w", err)
	}
	nodes := map[string]exportedNode{}
	for i, line := range lines[min(1, len(lines)):] {
		index, noIndex := strconv.Atoi(line[0])
		if len(line) != 3 || noIndex != nil || index != i || i >= len(e.Manifest.PerNode.Layers) {
			return nil, fmt.Errorf("nodes.csv: line %d is none of a node", i+2)
		}
		degree, noDegree := strconv.Atoi(line[2])
		if _, twice := nodes[line[1]]; twice || noDegree != nil {
			return nil, fmt.Errorf("nodes.csv: line %d is none of a node", i+2)
		}
		nodes[line[1]] = exportedNode{index, degree}
	}
	if len(nodes) != len(e.Manifest.PerNode.Layers) {
		return nil, fmt.Errorf("nodes.csv: %d nodes, where %d have strategies", len(nodes), len(e.Manifest.PerNode.Layers))
	}
	return nodes, nil
}

func (s *simulation) sameNetwork(g *graph.Origin) bool {
	o := s.network.Origin
	return g.Source == o.Source && g.SHA256 == o.SHA256 && g.Gossip == o.Gossip && g.GossipSHA256 == o.GossipSHA256 &&
		g.Nodes == o.Nodes
}

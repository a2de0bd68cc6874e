package export

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/secrets"
	"mafalda/strategy"
)

// StrategiesOn returns the strategy of every node of a network: the strategy that all nodes share (the matrix, not its
// parameters), or, where nodes have their own, the strategy of the node with the same label. It fails with
// ErrOtherNetwork if a label is missing.
func (e *Export) StrategiesOn(n *graph.Network) ([]strategy.Strategy, error) {
	if e.Manifest.PerNode == nil {
		shared, err := e.NodeStrategy(0)
		return slices.Repeat([]strategy.Strategy{shared}, n.Graph.Nodes()), err
	}
	at, err := e.sameNodes(n)
	if err != nil {
		return nil, err
	}
	nodes, err := e.NodeStrategies()
	if err != nil {
		return nil, err
	}
	return lists.Map(at, func(v int) strategy.Strategy { return nodes[v] }), nil
}

// ErrOtherNetwork is wrapped by the errors of StrategiesOn and SharedOn about strategies, or noise, of the nodes of another
// network.
var ErrOtherNetwork = errors.New("its nodes have strategies or privacy levels of their own, or share noise, for another network")

// sameNodes returns for every node of the network the index of the one with its label in the export. The networks
// must be the same: gossip, labels, degrees, and for graphs that are made what they are made of. The order of the
// nodes may be another, as it is if the lines of a graph's file are, unless the gossip matrix is a file, whose
// rows have no labels.
func (e *Export) sameNodes(on *graph.Network) ([]int, error) {
	g, o := e.Manifest.Graph, on.Origin
	if g == nil || g.Gossip != o.Gossip || g.GossipSHA256 != o.GossipSHA256 || g.Directed != o.Directed {
		return nil, fmt.Errorf("%w: it has other gossip", ErrOtherNetwork)
	}
	sameSeed := g.Seed == nil && o.Seed == nil || g.Seed != nil && o.Seed != nil && *g.Seed == *o.Seed
	if g.SHA256 == "" && o.SHA256 == "" && (g.Source != o.Source || !sameSeed) {
		return nil, fmt.Errorf("%w: %s", ErrOtherNetwork, g.Source)
	}
	nodes, err := e.nodes()
	if err != nil {
		return nil, err
	}
	if len(nodes) != on.Graph.Nodes() {
		return nil, fmt.Errorf("%w: %d nodes, not %d", ErrOtherNetwork, len(nodes), on.Graph.Nodes())
	}
	at := make([]int, on.Graph.Nodes())
	for u := range at {
		n, there := nodes[on.Graph.Label(u)]
		switch {
		case !there:
			return nil, fmt.Errorf("%w: it has no node %q", ErrOtherNetwork, on.Graph.Label(u))
		case n.degree != on.Graph.Degree(u):
			return nil, fmt.Errorf("%w: node %q has degree %d there and %d here", ErrOtherNetwork, on.Graph.Label(u),
				n.degree, on.Graph.Degree(u))
		case n.index != u && g.GossipSHA256 != "":
			return nil, fmt.Errorf("%w: node %q is another row of the gossip matrix", ErrOtherNetwork,
				on.Graph.Label(u))
		}
		at[u] = n.index
	}
	return at, nil
}

// SharedOn returns the noise of an export whose nodes share noise, with nodes numbered as in a network, by their labels.
// It fails as StrategiesOn does.
func (e *Export) SharedOn(n *graph.Network) (*secrets.Noise, error) {
	at, err := e.sameNodes(n)
	if err != nil {
		return nil, err
	}
	on := &secrets.Noise{Own: make([]float64, len(at))}
	here := make([]int, len(at))
	for u, v := range at {
		on.Own[u], here[v] = e.Shared.Own[v], u
	}
	for _, p := range e.Shared.Pairs {
		u, v := here[p.U], here[p.V]
		on.Pairs = append(on.Pairs, secrets.Shared{Pair: secrets.Pair{U: min(u, v), V: max(u, v)}, Deviation: p.Deviation})
	}
	sortPairs(on.Pairs)
	return on, nil
}

// LevelsOn returns the privacy levels of the nodes of an export with Budgets, in the order of the nodes of n. The error
// is ErrOtherNetwork.
func (e *Export) LevelsOn(n *graph.Network) ([]NodeLevel, error) {
	at, err := e.sameNodes(n)
	if err != nil {
		return nil, err
	}
	return lists.Map(at, func(v int) NodeLevel { return e.Manifest.Budgets[v] }), nil
}

// NodeLabels returns the labels of the nodes, by index; none of an export without a network, whose
// manifest has no graph and no strategies of nodes, and lists no nodes.csv.
func (e *Export) NodeLabels() ([]string, error) {
	if m := e.Manifest; m.Graph == nil && m.PerNode == nil && m.Files[nodesName] == "" {
		return nil, nil
	}
	nodes, err := e.nodes()
	if err != nil {
		return nil, err
	}
	labels := make([]string, len(nodes))
	for label, n := range nodes {
		labels[n.index] = label
	}
	return labels, nil
}

// exportedNode is a line of nodes.csv.
type exportedNode struct {
	index, degree int
	own           float64 // standard deviation, where nodes share noise
}

// nodes reads nodes.csv, which has a column more where nodes share noise, strictly: the nodes by their labels.
func (e *Export) nodes() (map[string]exportedNode, error) {
	m, header := e.Manifest, nodesHeader()
	if m.Space == nil {
		header = header[:3]
	}
	nodes := map[string]exportedNode{}
	err := e.eachLine(nodesName, header, func(line []string) error {
		degree, err := strconv.Atoi(line[2])
		n := exportedNode{index: len(nodes), degree: degree}
		if line[0] != strconv.Itoa(n.index) || err != nil || degree < 0 {
			return fmt.Errorf("it is none of node %d", n.index)
		}
		if _, twice := nodes[line[1]]; twice {
			return fmt.Errorf("the node %q is there twice", line[1])
		}
		if m.Space != nil {
			n.own, err = parseDeviation(line[3])
		}
		nodes[line[1]] = n
		return err
	})
	want := len(nodes)
	switch {
	case m.PerNode != nil:
		want = len(m.PerNode.Layers)
	case m.Graph != nil:
		want = m.Graph.Nodes
	}
	if err == nil && len(nodes) != want {
		err = fmt.Errorf("%s: %s has %d nodes, the manifest %d", e.Dir, nodesName, len(nodes), want)
	}
	return nodes, err
}

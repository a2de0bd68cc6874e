package graph

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mafalda/internal/fault"
	"mafalda/internal/files"
	"mafalda/study"
)

// Network is a connected graph with its gossip matrix, and where they came from.
type Network struct {
	Graph  *Graph
	Gossip *Gossip
	Origin Origin
	Notes  []string // what a user should know of it, a sentence each

	Sequence   *Sequence // matrices that take turns in the place of Gossip's; nil: there are none
	Components int       // components of the graph before all but the largest were dropped
}

// NetworkOptions says which network LoadNetwork loads.
type NetworkOptions struct {
	Source     string // path of a file, or a specification as of ByName; empty: the graph of the gossip matrix
	Scheme     Scheme // makes the gossip matrix, unless GossipFile is given
	GossipFile string // path of a gossip matrix; empty: Scheme makes it
	Directed   bool   // the edges of a file have a direction
	Strict     bool   // refuse a disconnected graph, instead of keeping its largest component
	Seed       uint64 // seed of random graphs

	GraphSequence string // path of networks that take turns (LoadSequence), made by Scheme; empty: there are none
}

// DisconnectedError is about a graph that was to be connected.
type DisconnectedError struct {
	Largest, Nodes int // nodes of the largest component, and of the graph
}

func (e *DisconnectedError) Error() string {
	return fmt.Sprintf("the graph is not connected: its largest component has %d of %d nodes", e.Largest, e.Nodes)
}

// LoadNetwork reads or makes a graph and its gossip matrix, and keeps the largest component. Options that do not fit
// together are a fault.Argument that names the field; a disconnected graph is a DisconnectedError if Strict. Errors of
// Load, ByName, LoadGossip, NewGossip and LoadSequence come as they are. It looks at ctx between these steps.
func LoadNetwork(ctx context.Context, o NetworkOptions) (*Network, error) {
	if o.Source == "" && o.GossipFile == "" {
		return nil, fault.New("Source", nil, "which network? Give a graph or a gossip matrix")
	}
	n := &Network{Origin: Origin{Gossip: o.Scheme.String()}}
	for _, step := range []func(NetworkOptions) error{n.loadGraph, n.loadGossip, n.connect,
		n.loadSequence} {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if err := step(o); err != nil {
			return nil, err
		}
	}
	n.Origin.Nodes, n.Origin.Edges, n.Origin.Directed = n.Graph.Nodes(), n.Graph.Edges(), n.Graph.Directed()
	if n.Graph.Nodes() == 1 {
		n.Note("warning: the graph has one node: this is centralized learning")
	}
	return n, nil
}

// Matrices returns the gossip matrices: one, or those that take turns.
func (n *Network) Matrices() []*CSR {
	if n.Sequence != nil {
		return n.Sequence.Matrices
	}
	return []*CSR{n.Gossip.Matrix()}
}

// Note adds a sentence for the user.
func (n *Network) Note(format string, args ...any) {
	n.Notes = append(n.Notes, fmt.Sprintf(format, args...))
}

func (n *Network) loadGraph(o NetworkOptions) error {
	if o.Source == "" {
		return nil // it follows from the gossip matrix
	}
	n.Origin.Source = o.Source
	g, known, err := ByName(o.Source, BuiltinOptions{Seed: o.Seed})
	if known {
		if err == nil && strings.Contains(o.Source, ":") {
			n.Origin.Seed = &o.Seed
		}
		n.Graph = g
		if err == nil && o.Directed {
			return fault.New("Directed", nil, "is for graphs from files: built-in graphs are undirected")
		}
		return err
	}
	if _, err := os.Stat(o.Source); errors.Is(err, os.ErrNotExist) {
		return fault.New("Source", o.Source, "is neither a file nor one of %s", strings.Join(BuiltinForms(), " "))
	}
	if n.Origin.SHA256, err = files.SHA256(o.Source); err != nil {
		return err
	}
	g, report, err := Load(o.Source, LoadOptions{Directed: o.Directed})
	if err != nil {
		return err
	}
	n.Graph = g
	n.Origin.Source = filepath.Base(o.Source)
	if report.Duplicates > 0 || report.SelfLoops > 0 {
		n.Note("ignored %d repeated edges and %d self-loops", report.Duplicates, report.SelfLoops)
	}
	return nil
}

func (n *Network) loadGossip(o NetworkOptions) (err error) {
	if o.GossipFile == "" {
		n.Gossip, err = NewGossip(n.Graph, o.Scheme)
		return err
	}
	n.Origin.Gossip, n.Origin.GossipFile = "file", filepath.Base(o.GossipFile)
	if n.Origin.GossipSHA256, err = files.SHA256(o.GossipFile); err != nil {
		return err
	}
	if n.Gossip, err = LoadGossip(o.GossipFile, n.Graph); err != nil || n.Graph != nil {
		return err
	}
	n.Origin.Source = n.Origin.GossipFile
	n.Graph, err = n.Gossip.Support()
	return err
}

// connect keeps the largest component.
func (n *Network) connect(o NetworkOptions) error {
	components := n.Graph.Components()
	n.Components = len(components)
	kept := components[0]
	dropped := n.Graph.Nodes() - len(kept)
	switch {
	case dropped == 0:
	case o.Strict:
		return &DisconnectedError{Largest: len(kept), Nodes: n.Graph.Nodes()}
	default:
		gossip, err := n.Gossip.Restrict(kept)
		if err != nil {
			return err
		}
		n.Note("warning: the graph is not connected: keeping the largest component, %d of %d nodes", len(kept),
			n.Graph.Nodes())
		n.Graph, n.Gossip, n.Origin.DroppedNodes = n.Graph.Subgraph(kept), gossip, dropped
	}
	if n.Graph.Directed() && !n.Graph.StronglyConnected() {
		n.Note("warning: the directed graph is not strongly connected: the nodes will not reach consensus")
	}
	return nil
}

// Origin says where a network came from, for a manifest: names, and hashes of files.
type Origin struct {
	Source string  `json:"source" verify:"exactly in network"`                    // file name or specification
	SHA256 string  `json:"sha256,omitempty" verify:"exactly in network"`          // hash of the network's file
	Seed   *uint64 `json:"seed,omitempty" verify:"exactly in network"`            // seed of a random graph
	Nodes  int     `json:"nodes" verify:"exactly in network" in:"[1,2147483647]"` // nodes after dropping
	Edges  int     `json:"edges" verify:"exactly in network" in:"[0,)"`
	// DroppedNodes are the nodes outside the largest component.
	DroppedNodes int    `json:"dropped_nodes,omitempty" verify:"exactly in network" in:"[0,2147483647]"`
	Directed     bool   `json:"directed,omitempty" verify:"exactly in network"`
	Gossip       string `json:"gossip" verify:"exactly in network"`                  // scheme, or "file"
	GossipFile   string `json:"gossip_file,omitempty" verify:"unchecked"`            // name of the gossip matrix's file, if one was loaded
	GossipSHA256 string `json:"gossip_sha256,omitempty" verify:"exactly in network"` // hash of that file

	SequenceFile   string `json:"sequence_file,omitempty" verify:"unchecked"`            // name of the file of networks that take turns
	SequenceSHA256 string `json:"sequence_sha256,omitempty" verify:"exactly in network"` // hash of that file
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

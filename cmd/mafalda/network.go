package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/files"
	"mafalda/internal/parallel"
)

// networkFlags are the flags that say what network there is.
type networkFlags struct {
	cmd        *cobra.Command // nil if not from a command line
	source     string         // path or specification
	gossip     string
	gossipFile string
	directed   bool
	strict     bool
	seed       uint64
}

// gossipGiven reports whether --gossip is on the command line.
func (f *networkFlags) gossipGiven() bool { return f.cmd != nil && f.cmd.Flags().Changed("gossip") }

func (f *networkFlags) bindGossip(cmd *cobra.Command) {
	f.cmd = cmd
	cmd.Flags().StringVar(&f.gossip, "gossip", "uniform", "gossip matrix: "+strings.Join(graph.Schemes(), ", "))
	cmd.Flags().StringVar(&f.gossipFile, "gossip-matrix", "", "read the gossip matrix from this .npy, .mtx or .csv `file` instead")
	cmd.Flags().BoolVar(&f.directed, "directed", false, "edges have a direction: \"u v\" lets u average over v")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "refuse a disconnected graph instead of keeping its largest component")
	cmd.Flags().Var((*seedNumber)(&f.seed), "seed", "seed of random graphs")
	completeWith(cmd, "gossip", graph.Schemes())
}

func (f *networkFlags) bindGraph(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.source, "graph", "g", "", "graph: a file (edge list, .mtx, .npy; .gz too) or "+builtinForms())
	err := cmd.RegisterFlagCompletionFunc("graph", completeGraph)
	if err != nil {
		panic(err)
	}
}

func completeGraph(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	var words []string
	for _, b := range graph.Builtins() {
		if name, _, _ := strings.Cut(b.Form, ":"); strings.HasPrefix(name, start) {
			if strings.Contains(b.Form, ":") {
				name += ":"
			}
			words = append(words, name+"\t"+b.Form+", "+b.About)
		}
	}
	return words, cobra.ShellCompDirectiveNoSpace
}

func builtinForms() string {
	var forms []string
	for _, b := range graph.Builtins() {
		forms = append(forms, b.Form)
	}
	return strings.Join(forms, " ")
}

// network is a connected graph with its gossip matrix and where they came from.
type network struct {
	graph  *graph.Graph
	gossip *graph.Gossip
	origin export.Graph
	notes  []string // for stderr

	components int // before dropping
}

// load reads or makes the network, and is left behind when the command's context ends. All of its other errors are
// errors of usage.
func (f *networkFlags) load() (n *network, err error) {
	ctx := context.Background()
	if f.cmd != nil && f.cmd.Context() != nil {
		ctx = f.cmd.Context()
	}
	var loaded *network
	err = parallel.Await(ctx, func() (err error) {
		loaded, err = f.loadNow()
		return err
	})
	if err != nil {
		return nil, err // loaded may still be written to
	}
	return loaded, nil
}

func (f *networkFlags) loadNow() (*network, error) {
	n := &network{origin: export.Graph{Gossip: f.gossip}}
	var err error
	switch {
	case f.gossipFile != "" && f.gossipGiven():
		err = errors.New("--gossip and --gossip-matrix: only one of them")
	case f.source != "":
		err = f.loadGraph(n)
	case f.gossipFile == "":
		err = errors.New("which network? Use --graph FILE, a built-in graph such as --graph florentine, or --gossip-matrix FILE")
	}
	if err == nil {
		err = f.loadGossip(n)
	}
	if err == nil {
		err = f.connect(n)
	}
	if err != nil {
		return nil, usage(err)
	}
	n.origin.Nodes, n.origin.Edges, n.origin.Directed = n.graph.Nodes(), n.graph.Edges(), n.graph.Directed()
	if n.graph.Nodes() == 1 {
		n.warn("the graph has one node: this is centralized learning")
	}
	return n, nil
}

func (n *network) warn(format string, args ...any) { n.note("warning: "+format, args...) }

func (n *network) note(format string, args ...any) {
	n.notes = append(n.notes, fmt.Sprintf(format, args...))
}

func (f *networkFlags) loadGraph(n *network) error {
	n.origin.Source = f.source
	g, known, err := graph.ByName(f.source, graph.BuiltinOptions{Seed: f.seed})
	if known {
		if err == nil && strings.Contains(f.source, ":") {
			n.origin.Seed = &f.seed
		}
		n.graph = g
		if err == nil && f.directed {
			return errors.New("--directed is for graphs from files: built-in graphs are undirected")
		}
		return err
	}
	if _, err := os.Stat(f.source); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("graph %q is neither a file nor one of %s", f.source, builtinForms())
	}
	if n.origin.SHA256, err = hashFile(f.source); err != nil {
		return err
	}
	g, report, err := graph.Load(f.source, graph.LoadOptions{Directed: f.directed})
	if err != nil {
		return err
	}
	n.graph = g
	n.origin.Source = filepath.Base(f.source)
	if report.Duplicates > 0 || report.SelfLoops > 0 {
		n.note("ignored %d repeated edges and %d self-loops", report.Duplicates, report.SelfLoops)
	}
	return nil
}

func (f *networkFlags) loadGossip(n *network) (err error) {
	if f.gossipFile == "" {
		scheme, err := graph.ParseScheme(f.gossip)
		if err != nil {
			return err
		}
		n.gossip, err = graph.NewGossip(n.graph, scheme)
		return err
	}
	n.origin.Gossip, n.origin.GossipFile = "file", filepath.Base(f.gossipFile)
	if n.origin.GossipSHA256, err = hashFile(f.gossipFile); err != nil {
		return err
	}
	if n.gossip, err = graph.LoadGossip(f.gossipFile, n.graph); err != nil || n.graph != nil {
		return err
	}
	n.origin.Source = n.origin.GossipFile
	n.graph, err = n.gossip.Support()
	return err
}

// connect keeps the largest component.
func (f *networkFlags) connect(n *network) error {
	n.components = len(n.graph.Components())
	largest, kept := n.graph.LargestComponent()
	dropped := n.graph.Nodes() - len(kept)
	switch {
	case dropped == 0:
	case f.strict:
		return fmt.Errorf("the graph is not connected: its largest component has %d of %d nodes (leave out --strict to use it)",
			len(kept), n.graph.Nodes())
	default:
		gossip, err := n.gossip.Restrict(kept)
		if err != nil {
			return err
		}
		n.warn("the graph is not connected: keeping the largest component, %d of %d nodes", len(kept), n.graph.Nodes())
		n.graph, n.gossip, n.origin.DroppedNodes = largest, gossip, dropped
	}
	if n.graph.Directed() && !n.graph.StronglyConnected() {
		n.warn("the directed graph is not strongly connected: the nodes will not reach consensus")
	}
	return nil
}

// hashFile returns the SHA-256 of a regular file. Pipes and devices are refused: they cannot be read twice, or end.
func hashFile(path string) (string, error) {
	file, _, err := files.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// line describes the network in a line.
func (n *network) line() string {
	kind := "undirected"
	if n.graph.Directed() {
		kind = "directed"
	}
	s := fmt.Sprintf("%s: %d nodes, %d %s edges", n.origin.Source, n.graph.Nodes(), n.graph.Edges(), kind)
	if n.origin.DroppedNodes > 0 {
		s += fmt.Sprintf(" (largest component, %d nodes dropped)", n.origin.DroppedNodes)
	}
	return s
}

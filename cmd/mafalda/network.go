package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/internal/fault"
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
	cmd.Flags().Var((*cli.SeedNumber)(&f.seed), "seed", "seed of random graphs")
	cli.CompleteWith(cmd, "gossip", graph.Schemes())
}

func (f *networkFlags) bindGraph(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.source, "graph", "g", "", "graph: a file (edge list, .mtx, .npy; .gz too) or "+strings.Join(graph.BuiltinForms(), " "))
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

// options returns what the flags say; without --gossip, byDefault makes the gossip matrix.
func (f *networkFlags) options(byDefault graph.Scheme) (graph.NetworkOptions, error) {
	o := graph.NetworkOptions{Source: f.source, Scheme: byDefault, GossipFile: f.gossipFile, Directed: f.directed,
		Strict: f.strict, Seed: f.seed}
	if f.gossipFile != "" {
		if f.gossipGiven() {
			return o, errors.New("--gossip and --gossip-matrix: only one of them")
		}
		return o, nil
	}
	if f.gossipGiven() || f.cmd == nil {
		var err error
		if o.Scheme, err = graph.ParseScheme(f.gossip); err != nil {
			return o, err
		}
	}
	return o, nil
}

// load reads or makes the network, and is left behind when the command's context ends. All of its other errors are
// errors of usage.
func (f *networkFlags) load() (*graph.Network, error) { return f.loadBy(graph.Uniform) }

// loadBy is load with another gossip scheme where no flag asks for one.
func (f *networkFlags) loadBy(scheme graph.Scheme) (*graph.Network, error) {
	o, err := f.options(scheme)
	if err != nil {
		return nil, cli.Usage(err)
	}
	ctx := context.Background()
	if f.cmd != nil && f.cmd.Context() != nil {
		ctx = f.cmd.Context()
	}
	var loaded *graph.Network
	err = parallel.Await(ctx, func() (err error) {
		loaded, err = graph.LoadNetwork(context.WithoutCancel(ctx), o) // what is there soon after Ctrl-C is still used
		return cli.Usage(networkError(err))
	})
	if err != nil {
		return nil, err // loaded may still be written to
	}
	return loaded, nil
}

// networkError names the flags that fill the fields of graph.NetworkOptions.
func networkError(err error) error {
	var a *fault.Argument
	if !errors.As(err, &a) {
		return err
	}
	switch {
	case a.Field == "Source" && a.Value == nil:
		return errors.New("which network? Use --graph FILE, a built-in graph such as --graph florentine, " +
			"or --gossip-matrix FILE")
	case a.Field == "Source":
		return fmt.Errorf("graph %q %s", a.Value, a.Reason)
	case a.Field == "Directed":
		return fmt.Errorf("--directed %s", a.Reason)
	}
	return err
}

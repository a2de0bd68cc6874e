package flags

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/terminal"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/internal/lists"
	"mafalda/internal/parallel"
)

// NetworkFlags are the flags that say what network there is.
type NetworkFlags struct {
	graph.NetworkOptions // without the scheme; WorkloadFlags bind GraphSequence

	cmd    *cobra.Command
	Gossip string // name of the scheme
}

// GossipGiven reports whether --gossip is on the command line.
func (f *NetworkFlags) GossipGiven() bool { return f.cmd.Flags().Changed("gossip") }

const graphGroup = "Network"

// BindGossip binds the flags that say how nodes average: --gossip, --gossip-matrix, --directed, --strict and --seed.
func (f *NetworkFlags) BindGossip(cmd *cobra.Command) {
	f.cmd = cmd
	terminal.ChoiceVar(cmd, &f.Gossip, "gossip", "uniform", graph.Schemes(),
		"gossip matrix: "+strings.Join(graph.Schemes(), ", "))
	cmd.Flags().StringVar(&f.GossipFile, "gossip-matrix", "", "read the gossip matrix from this .npy, .mtx or .csv `file` instead")
	cmd.Flags().BoolVar(&f.Directed, "directed", false, "edges have a direction: \"u v\" lets u average over v")
	cmd.Flags().BoolVar(&f.Strict, "strict", false, "refuse a disconnected graph instead of keeping its largest component")
	cmd.Flags().Var((*terminal.SeedNumber)(&f.Seed), "seed", "seed of random graphs and random estimates")
	terminal.InGroup(cmd, graphGroup, "gossip", "gossip-matrix", "directed", "strict", "seed")
}

// BindGraph binds --graph.
func (f *NetworkFlags) BindGraph(cmd *cobra.Command) {
	terminal.OnceVarP(cmd, &f.Source, "graph", "g", "graph: a file (edge list, .mtx, .npy; .gz too) or "+strings.Join(graph.BuiltinForms(), " "))
	terminal.InGroup(cmd, graphGroup, "graph")
	terminal.Complete(cmd, "graph", CompleteGraph)
}

// CompleteGraph offers the built-in graphs.
func CompleteGraph(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
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
func (f *NetworkFlags) options(byDefault graph.Scheme) (o graph.NetworkOptions, err error) {
	o = f.NetworkOptions
	o.Scheme = byDefault
	if !f.GossipGiven() {
		return o, nil
	}
	if f.GossipFile != "" {
		return o, errors.New("--gossip and --gossip-matrix: only one of them")
	}
	o.Scheme, err = graph.ParseScheme(f.Gossip)
	return o, err
}

// Load reads or makes the network, and is left behind when the command's context ends. All of its other errors are
// errors of usage.
func (f *NetworkFlags) Load() (*graph.Network, error) { return f.LoadBy(graph.Uniform) }

// LoadBy is load with another gossip scheme where no flag asks for one.
func (f *NetworkFlags) LoadBy(scheme graph.Scheme) (*graph.Network, error) {
	o, err := f.options(scheme)
	if err != nil {
		return nil, terminal.Usage(err)
	}
	ctx := f.cmd.Context()
	var loaded *graph.Network
	err = parallel.Await(ctx, func() (err error) {
		loaded, err = graph.LoadNetwork(context.WithoutCancel(ctx), o) // what is there soon after Ctrl-C is still used
		return terminal.Usage(NetworkError(err))
	})
	if err != nil {
		return nil, err // loaded may still be written to
	}
	return loaded, nil
}

// NetworkError names the flags that fill the fields of graph.NetworkOptions.
func NetworkError(err error) error {
	a, is := errors.AsType[*fault.Argument](err)
	if !is {
		return err
	}
	switch {
	case a.Field == "Source" && a.Value == nil:
		return errors.New("which network? Use --graph FILE, a built-in graph such as --graph florentine, " +
			"or --gossip-matrix FILE")
	case a.Field == "Source":
		kind := func(text string) string { return strings.Split(text, ":")[0] }
		return fmt.Errorf("graph %q %s%s", a.Value, a.Reason, terminal.DidYouMean(kind(fmt.Sprint(a.Value)),
			lists.Map(graph.BuiltinForms(), kind)))
	case a.Field == "Directed":
		return fmt.Errorf("--directed %s", a.Reason)
	}
	return err
}

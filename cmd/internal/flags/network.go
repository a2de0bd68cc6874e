package flags

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/terminal"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/internal/lists"
	"mafalda/internal/parallel"
)

// NetworkFlags are the flags about the network.
type NetworkFlags struct {
	graph.NetworkOptions // options but the scheme; WorkloadFlags bind GraphSequence

	cmd    *cobra.Command
	Gossip string // name of the scheme

	Sources []string // the networks of BindGraphs
}

// directed is what stands before a file whose edges have a direction.
const directed = "directed:"

// GossipGiven reports whether --gossip names a scheme on the command line.
func (f *NetworkFlags) GossipGiven() bool {
	return f.cmd.Flags().Changed("gossip") && f.GossipFile() == ""
}

// GossipFile returns the file of --gossip, which has an ending; empty if it names a scheme.
func (f *NetworkFlags) GossipFile() string {
	name, is := strings.CutPrefix(f.Gossip, directed)
	if is || filepath.Ext(name) != "" {
		return name
	}
	return ""
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
	var one bool
	if o.Source, one = strings.CutPrefix(f.Source, directed); one && o.Source == "" {
		return o, errors.New("--graph directed: which file? Use --graph directed:FILE")
	}
	if o.GossipFile = f.GossipFile(); f.GossipGiven() {
		o.Scheme, err = graph.ParseScheme(f.Gossip)
	}
	o.Directed = one || strings.HasPrefix(f.Gossip, directed)
	return o, err
}

// Load reads or makes the network, and is left behind when the command's context ends. All of its other errors are
// errors of usage.
func (f *NetworkFlags) Load() (*graph.Network, error) { return f.LoadBy(graph.Uniform) }

// LoadAll loads the networks of all graphs that BindGraphs has read.
func (f *NetworkFlags) LoadAll() (first *graph.Network, others []*graph.Network, err error) {
	if len(f.Sources) > 1 && f.GossipFile() != "" {
		return nil, nil, terminal.Usagef("--gossip FILE is for one --graph, not for %d", len(f.Sources))
	}
	sources := f.Sources
	if sources == nil {
		sources = []string{""} // of the gossip matrix
	}
	var all []*graph.Network
	for i, source := range sources {
		if slices.Contains(sources[:i], source) {
			return nil, nil, terminal.Usagef("--graph %s is given twice", source)
		}
		f.Source = source
		n, err := f.Load()
		if err != nil {
			return nil, nil, err
		}
		all = append(all, n)
	}
	return all[0], all[1:], nil
}

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
			"or --gossip FILE")
	case a.Field == "Source":
		kind := func(text string) string { return strings.Split(text, ":")[0] }
		return fmt.Errorf("graph %q %s%s", a.Value, a.Reason, terminal.DidYouMean(kind(fmt.Sprint(a.Value)),
			lists.Map(graph.BuiltinForms(), kind)))
	case a.Field == "Directed":
		return fmt.Errorf("%s %s", directed, a.Reason)
	}
	return err
}

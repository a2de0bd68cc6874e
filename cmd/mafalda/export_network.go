package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/cli"
)

// exportNetworkFlags name the files that an export's network came from.
type exportNetworkFlags struct{ graph, gossipMatrix string }

func (f *exportNetworkFlags) bind(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.graph, "graph", "g", "", "the graph `file` the export was made for")
	cmd.Flags().StringVar(&f.gossipMatrix, "gossip-matrix", "", "the gossip matrix `file` the export was made for")
}

// load reads the network that the flags name; nil if they name none, or not all of its files. Its errors are those of
// usage.
func (f *exportNetworkFlags) load(ctx context.Context, e *export.Export) (*graph.Network, error) {
	if *f == (exportNetworkFlags{}) {
		return nil, nil
	}
	o, err := NetworkOptions(e.Manifest, NetworkFiles{Graph: f.graph, GossipMatrix: f.gossipMatrix})
	var (
		failed  *FailedError
		missing *MissingFilesError
	)
	switch {
	case errors.Is(err, ErrNoNetwork):
		return nil, cli.Usagef("%s is for the prefix workload, which has no network: leave out --graph and "+
			"--gossip-matrix", e.Dir)
	case errors.As(err, &failed) || errors.As(err, &missing):
		return nil, nil // whoever uses the export says so
	case err != nil:
		return nil, cli.Usage(err)
	}
	n, err := graph.LoadNetwork(ctx, o)
	return n, cli.Usage(networkError(err))
}

// of returns the network of the export, compared with its manifest; nil if it has none or, with a note, if not all of its
// files are named.
func (f *exportNetworkFlags) of(ctx context.Context, notes io.Writer, e *export.Export) (*graph.Network, error) {
	given, err := f.load(ctx, e)
	if err != nil {
		return nil, err
	}
	n, err := NetworkOf(ctx, e, given)
	var (
		failed  *FailedError
		missing *MissingFilesError
	)
	switch {
	case errors.Is(err, ErrNoNetwork):
		return nil, nil
	case errors.As(err, &missing):
		fmt.Fprintln(notes, "errors and spectrum are not drawn: "+f.note(missing.Files))
		return nil, nil
	case errors.As(err, &failed):
		return nil, cli.Usagef("%s: %w", e.Dir, err)
	}
	return n, cli.Usage(networkError(err))
}

// note says how to name the files that are missing.
func (f *exportNetworkFlags) note(missing NetworkFiles) string {
	note := "loss and bound were not checked: name the network's file with"
	if missing.Graph != "" && f.graph == "" {
		note += fmt.Sprintf(" --graph FILE (it was %s)", missing.Graph)
	}
	if missing.GossipMatrix != "" && f.gossipMatrix == "" {
		note += fmt.Sprintf(" --gossip-matrix FILE (it was %s)", missing.GossipMatrix)
	}
	return note
}

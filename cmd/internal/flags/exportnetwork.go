package flags

import (
	"context"
	"errors"
	"fmt"

	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/graph"
	"mafalda/verify"
)

// ExportNetworkFlags name the files that an export's network came from.
type ExportNetworkFlags struct{ verify.NetworkFiles }

// Load reads the network that the flags name; nil if they name none, or not all of its files. Its errors come from
// usage.
func (f *ExportNetworkFlags) Load(ctx context.Context, e *export.Export) (*graph.Network, error) {
	if *f == (ExportNetworkFlags{}) {
		return nil, nil
	}
	o, err := verify.NetworkOptions(e.Manifest, f.NetworkFiles)
	_, failed := errors.AsType[*verify.FailedError](err)
	_, missing := errors.AsType[*verify.MissingFilesError](err)
	switch {
	case errors.Is(err, verify.ErrNoNetwork):
		return nil, terminal.Usagef("%s is for the prefix workload, which has no network: leave out --graph, "+
			"--gossip and --graph-changes", e.Dir)
	case failed || missing:
		return nil, nil // the user of the export says so
	case err != nil:
		return nil, terminal.Usage(err)
	}
	n, err := graph.LoadNetwork(ctx, o)
	return n, terminal.Usage(NetworkError(err))
}

// NetworkOf returns the network of the export, compared with its manifest; nil if it has none or, with a note that says how to
// name them, if not all of its files are named.
func (f *ExportNetworkFlags) NetworkOf(ctx context.Context, e *export.Export) (n *graph.Network, note string, err error) {
	given, err := f.Load(ctx, e)
	if err != nil {
		return nil, "", err
	}
	n, err = verify.NetworkOf(ctx, e, given)
	_, failed := errors.AsType[*verify.FailedError](err)
	missing, lacking := errors.AsType[*verify.MissingFilesError](err)
	switch {
	case errors.Is(err, verify.ErrNoNetwork):
		return nil, "", nil
	case lacking:
		return nil, f.Note(missing.Files), nil
	case failed:
		return nil, "", terminal.Usagef("%s: %w", e.Dir, err)
	}
	return n, "", terminal.Usage(NetworkError(err))
}

// Note says how to name the files that are missing.
func (f *ExportNetworkFlags) Note(missing verify.NetworkFiles) string {
	note := "name the network's file with"
	for _, file := range [][3]string{{"--graph ", missing.Graph, f.Graph},
		{"--gossip ", missing.GossipMatrix, f.GossipMatrix},
		{"--graph-changes sequence:", missing.GraphSequence, f.GraphSequence}} {
		if flag, was, given := file[0], file[1], file[2]; was != "" && given == "" {
			note += fmt.Sprintf(" %sFILE (it was %s)", flag, was)
		}
	}
	return note
}

// ExportFamilyFlags are ExportNetworkFlags for several networks, too, unknown which of them it will be.
type ExportFamilyFlags struct {
	ExportNetworkFlags
	graphs []string
}

// Load reads the networks that the flags name, each nil as Load of one has it.
func (f *ExportFamilyFlags) Load(ctx context.Context, e *export.Export) ([]*graph.Network, error) {
	var all []*graph.Network
	left := f.graphs
	for i := range max(e.Manifest.Networks(), 1) {
		of, one := e, f.ExportNetworkFlags
		if e.Manifest.Networks() > 0 {
			of = verify.Member(e, i)
		}
		if len(left) > 0 && (of == e || of.Manifest.Graph.SHA256 != "") {
			one.Graph, left = left[0], left[1:]
		}
		n, err := one.Load(ctx, of)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	if len(left) > 0 {
		return nil, terminal.Usagef("--graph %s: %s is for no more graphs from files", left[0], e.Dir)
	}
	return all, nil
}

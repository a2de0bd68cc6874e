package commands

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/graph"
)

type graphFlags struct {
	network     flags.NetworkFlags
	out         string
	format      string
	force, json bool
}

func newGraphCmd() *cobra.Command {
	cmd := newCommand("graph", new(graphFlags))
	cmd.ValidArgsFunction = flags.CompleteGraph
	return cmd
}

func (f *graphFlags) run(cmd *cobra.Command) error {
	f.network.Source = cmd.Flags().Arg(0)
	if f.format == "nvflare" && (f.json || f.out != "") {
		return terminal.Usagef("--format nvflare is JSON on standard output: leave out --json and -o")
	}
	bar := terminal.NewProgress(cmd.ErrOrStderr(), false)
	defer bar.Clear()
	bar.Busy("reading or making the graph")
	n, err := f.network.Load()
	if err != nil {
		return err
	}
	if f.format == "nvflare" {
		return terminal.WriteJSON(cmd.OutOrStdout(), n.NVFlare())
	}
	bar.Busy("inspecting")
	r, err := graph.Inspect(cmd.Context(), n)
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := results.RefuseExport(f.out); err != nil {
			return err
		}
		if err := n.WriteFiles(f.out, f.force); err != nil {
			return terminal.UsageIfExists(err)
		}
	}
	bar.Clear()
	for _, note := range slices.Concat(n.Notes, r.Notes) {
		fmt.Fprintln(cmd.ErrOrStderr(), note)
	}
	if f.json {
		return terminal.WriteJSON(cmd.OutOrStdout(), r)
	}
	return graphPage(inspected{&r, n, graph.MaxExactDiameter, f.out}).Text(cmd.OutOrStdout())
}

// inspected is a network with what is known of it.
type inspected struct {
	*graph.Inspection
	Network  *graph.Network
	MaxExact int    // nodes of networks whose diameter is exact
	Written  string // folder; empty: none
}

var graphPage = document.Page[inspected](pages, "graph")

package commands

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

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
	var f graphFlags
	cmd := flags.Command("graph", &f, func(cmd *cobra.Command, args []string) error {
		f.network.Source = args[0]
		return f.run(cmd)
	})
	cmd.ValidArgsFunction = flags.CompleteGraph
	return cmd
}

func (f *graphFlags) run(cmd *cobra.Command) error {
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
	printInspection(cmd.OutOrStdout(), n, &r)
	if f.out != "" {
		fmt.Fprintf(cmd.OutOrStdout(), "written            %s\n", f.out)
	}
	return nil
}

func printInspection(w io.Writer, n *graph.Network, r *graph.Inspection) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-18s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("graph", "%s", n.Line())
	if r.Components > 1 {
		line("components", "%d; everything below is about the largest", r.Components)
	} else {
		line("components", "1")
	}
	line("degrees", "%d to %d, %.4g on average%s", r.MinDegree, r.MaxDegree, r.MeanDegree,
		map[bool]string{true: "; weighted edges"}[r.Weighted])
	switch {
	case r.Diameter != nil:
		line("diameter", "%d (exact)", *r.Diameter)
	case r.DiameterLower != nil:
		line("diameter", "%d to %d (bounds; exact up to %d nodes)", *r.DiameterLower, *r.DiameterUpper,
			graph.MaxExactDiameter)
	default:
		line("diameter", "none: not strongly connected")
	}
	line("gossip", "%s: %s, %s", r.GossipLine(), not(r.Symmetric, "symmetric"),
		not(r.DoublyStochastic, "doubly stochastic"))
	switch {
	case r.Lambda2 == nil:
		line("second eigenvalue", "not computed for large directed graphs")
	case r.Lambda2Error != nil:
		line("second eigenvalue", "%.8g in modulus (Lanczos, error at most about %s)", *r.Lambda2,
			terminal.DecimalUp(*r.Lambda2Error, 1))
	default:
		line("second eigenvalue", "%.8g in modulus", *r.Lambda2)
	}
	if r.SpectralGap != nil {
		line("spectral gap", "%.8g", *r.SpectralGap)
	}
}

func not(holds bool, what string) string {
	if holds {
		return what
	}
	return "not " + what
}

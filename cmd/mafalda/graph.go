package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/internal/files"
)

type graphFlags struct {
	network     cli.NetworkFlags
	out         string
	force, json bool
}

func newGraphCmd() *cobra.Command {
	var f graphFlags
	forms := "Built-in graphs:\n"
	for _, b := range graph.Builtins() {
		forms += fmt.Sprintf("  %-15s %s\n", b.Form, b.About)
	}
	cmd := &cobra.Command{
		Use:   "graph SPEC",
		Short: "Inspect or make a graph and its gossip matrix",
		Long: "Inspect a graph, from a file or made, and its gossip matrix; with -o, write edges.tsv, gossip.mtx and nodes.csv.\n\n" +
			forms,
		Example: `  mafalda graph florentine
  mafalda graph ego.edges --gossip metropolis --json
  mafalda graph geometric:200,0.15 --seed 3 -o geo`,
		Args:              cli.ExactArgs(1, "one graph"),
		ValidArgsFunction: cli.CompleteGraph,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.network.Source = args[0]
			return f.run(cmd)
		},
	}
	f.network.BindGossip(cmd)
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "write the graph to this `folder`")
	cmd.Flags().BoolVar(&f.force, "force", false, "replace files that are there")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

// exactDiameter is the size up to which the diameter is computed by a search from every node.
const exactDiameter = 5000

// graphReport is what the graph command finds.
type graphReport struct {
	graph.Origin
	Components        int      `json:"components"`
	MinDegree         int      `json:"min_degree"`
	MeanDegree        float64  `json:"mean_degree"`
	MaxDegree         int      `json:"max_degree"`
	Weighted          bool     `json:"weighted"`
	StronglyConnected bool     `json:"strongly_connected"`
	Diameter          *int     `json:"diameter,omitempty"` // exact, or
	DiameterLower     *int     `json:"diameter_lower,omitempty"`
	DiameterUpper     *int     `json:"diameter_upper,omitempty"`
	Symmetric         bool     `json:"symmetric"`
	DoublyStochastic  bool     `json:"doubly_stochastic"`
	Lambda2           *float64 `json:"second_eigenvalue,omitempty"`
	Lambda2Error      *float64 `json:"second_eigenvalue_error,omitempty"`
	SpectralGap       *float64 `json:"spectral_gap,omitempty"`
}

func (f *graphFlags) run(cmd *cobra.Command) error {
	n, err := f.network.Load()
	if err != nil {
		return err
	}
	r, err := inspect(n)
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := f.write(n); err != nil {
			return err
		}
	}
	for _, note := range n.Notes {
		fmt.Fprintln(cmd.ErrOrStderr(), note)
	}
	if f.json {
		e := json.NewEncoder(cmd.OutOrStdout())
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	r.print(cmd.OutOrStdout(), n)
	if f.out != "" {
		fmt.Fprintf(cmd.OutOrStdout(), "written            %s\n", f.out)
	}
	return nil
}

func inspect(n *graph.Network) (*graphReport, error) {
	g := n.Graph
	r := &graphReport{Origin: n.Origin, Components: n.Components, MinDegree: math.MaxInt, Weighted: g.Weighted(),
		StronglyConnected: g.StronglyConnected(), Symmetric: n.Gossip.Symmetric(), DoublyStochastic: n.Gossip.DoublyStochastic()}
	for i := range g.Nodes() {
		d := g.Degree(i)
		r.MinDegree, r.MaxDegree = min(r.MinDegree, d), max(r.MaxDegree, d)
		r.MeanDegree += float64(d) / float64(g.Nodes())
	}
	switch d := g.Diameter(exactDiameter); {
	case !d.Connected:
	case d.Exact():
		r.Diameter = &d.Lower
	default:
		r.DiameterLower, r.DiameterUpper = &d.Lower, &d.Upper
	}
	second, err := n.Gossip.SecondEigenvalue()
	if errors.Is(err, graph.ErrSpectrum) {
		n.Note("warning: %v", err)
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	gap := second.Gap()
	r.Lambda2, r.SpectralGap = &second.Modulus, &gap
	if second.Method != "dense" {
		r.Lambda2Error = &second.Error
	}
	return r, nil
}

func (r *graphReport) print(w io.Writer, n *graph.Network) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-18s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("graph", "%s", n.Line())
	if r.Components > 1 {
		line("components", "%d; everything below is about the largest", r.Components)
	} else {
		line("components", "1")
	}
	line("degrees", "%d to %d, %.4g on average%s", r.MinDegree, r.MaxDegree, r.MeanDegree, map[bool]string{true: "; weighted edges"}[r.Weighted])
	switch {
	case r.Diameter != nil:
		line("diameter", "%d (exact)", *r.Diameter)
	case r.DiameterLower != nil:
		line("diameter", "%d to %d (bounds; exact up to %d nodes)", *r.DiameterLower, *r.DiameterUpper, exactDiameter)
	default:
		line("diameter", "none: not strongly connected")
	}
	line("gossip", "%s: %s, %s", r.GossipLine(), not(r.Symmetric, "symmetric"), not(r.DoublyStochastic, "doubly stochastic"))
	switch {
	case r.Lambda2 == nil:
		line("second eigenvalue", "not computed for large directed graphs")
	case r.Lambda2Error != nil:
		line("second eigenvalue", "%.8g in modulus (Lanczos, error at most about %s)", *r.Lambda2, cli.DecimalUp(*r.Lambda2Error, 1))
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

// write makes the three files, each atomically.
func (f *graphFlags) write(n *graph.Network) error {
	all := []export.File{
		{Name: "edges.tsv", Write: func(w io.Writer) error { return graph.WriteEdges(w, n.Graph) }},
		{Name: "gossip.mtx", Write: func(w io.Writer) error { return graph.WriteMatrixMarket(w, n.Gossip.Matrix()) }},
		{Name: "nodes.csv", Write: func(w io.Writer) error { return graph.WriteNodes(w, n.Graph) }},
	}
	if err := cli.RefuseExport(f.out); err != nil {
		return err
	}
	if err := os.MkdirAll(f.out, 0o777); err != nil {
		return fmt.Errorf("cannot write to %s: %w", f.out, err)
	}
	for _, file := range all {
		if err := files.WriteFile(filepath.Join(f.out, file.Name), file.Write, f.force); err != nil {
			_ = os.Remove(f.out) // only if it is empty
			if errors.Is(err, files.ErrExists) {
				return cli.Usage(err)
			}
			return err
		}
	}
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/internal/figures"
	"mafalda/internal/files"
	"mafalda/strategy"
)

// plotFlags say what to draw, and where to.
type plotFlags struct {
	network verifyFlags
	out     string
	node    int
	force   bool
}

func newPlotCmd() *cobra.Command {
	var f plotFlags
	cmd := &cobra.Command{
		Use:   "plot DIR",
		Short: "Draw an export: matrices, convergence, errors, spectrum",
		Long: `Draw an export, as .png and .svg:

  matrices      C and C⁻¹ side by side, in signed colours
  convergence   how loss and lower bound approached each other
  errors        the error of every step, beside those of DP-D-SGD and D-MF
  spectrum      the eigenvalues of the gossip matrix, which say how fast errors spread

Where nodes have strategies of their own, the matrices are those of --node, and the errors those of all nodes together,
each with its own. Errors and spectrum need the network. Built-in graphs are made again; for a graph or gossip matrix
from a file, name it. Nothing is written before everything is drawn.`,
		Example: `  mafalda plot out                 # into the current folder
  mafalda plot out --graph ego.edges -o figures`,
		Args: cli.ExactArgs(1, "one folder"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.network.bindNetwork(cmd)
	cmd.Flags().StringVarP(&f.out, "output", "o", ".", "write the pictures to this `folder`")
	cmd.Flags().Var((*cli.WholeNumber)(&f.node), "node",
		"whose strategy to draw, by its index in nodes.csv, if nodes have their own")
	cmd.Flags().BoolVar(&f.force, "force", false, "replace pictures that are there")
	return cmd
}

func (f *plotFlags) run(cmd *cobra.Command, dir string) error {
	ctx, stop := cli.Interruptible(cmd.Context())
	defer stop()
	e, err := export.Load(dir)
	if err != nil {
		return cli.Usage(err)
	}
	if steps := e.Manifest.Steps; steps > factorize.LongSteps {
		return cli.Usagef("%s has T = %d steps: pictures are of at most %d", dir, steps, factorize.LongSteps)
	}
	c, err := e.NodeStrategy(f.node)
	if err != nil {
		return cli.Usage(err)
	}
	v := &verification{flags: &f.network, export: e}
	if v.schema, err = e.Manifest.Participation.Of(e.Manifest.Steps); err != nil {
		return cli.Usage(fmt.Errorf("%s: %w", dir, err))
	}
	n, known, err := v.networkOf()
	if err != nil {
		return err
	}
	if failed := v.failures(); len(failed) > 0 {
		return cli.Usagef("%s: %s: %s", dir, failed[0].Name, failed[0].Detail)
	}
	for _, note := range v.notes {
		fmt.Fprintln(cmd.ErrOrStderr(), "errors and spectrum are not drawn: "+note)
	}
	if err := f.checkPlaces(e.Manifest, known && n != nil); err != nil {
		return err
	}
	figures, err := f.exportFigures(e, c)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if known && n != nil {
		of, err := networkFigures(ctx, w, v, n, c)
		if err != nil {
			return err
		}
		figures = append(figures, of...)
	}
	for _, g := range figures { // all are made before the first is written
		if err := cli.WriteFigure(w, f.out, g.Name, g.Figure, f.force); err != nil {
			return err
		}
	}
	return nil
}

// checkPlaces finds out, before anything is drawn, whether there are pictures already.
func (f *plotFlags) checkPlaces(m *export.Manifest, network bool) error {
	if err := cli.RefuseExport(f.out); err != nil {
		return err
	}
	names := []string{"matrices"}
	if len(m.History) > 1 {
		names = append(names, "convergence")
	}
	if network {
		names = append(names, "errors", "spectrum")
	}
	for _, name := range names {
		for _, ext := range figures.Formats() {
			path := filepath.Join(f.out, name+ext)
			if _, err := os.Lstat(path); err == nil && !f.force {
				return cli.Usage(&files.ExistsError{Path: path})
			}
		}
	}
	return nil
}

// exportFigures draws what the export alone has.
func (f *plotFlags) exportFigures(e *export.Export, c strategy.Strategy) ([]figures.Named, error) {
	whose := ""
	if e.Manifest.PerNode != nil {
		whose = fmt.Sprintf(" of node %d", f.node)
	}
	matrices, err := matricesFigure(c, whose)
	if err != nil {
		return nil, err
	}
	pictures := []figures.Named{{Name: "matrices", Figure: matrices}}
	if len(e.Manifest.History) > 1 {
		convergence, err := convergenceFigure(e.Manifest)
		if err != nil {
			return nil, err
		}
		pictures = append(pictures, figures.Named{Name: "convergence", Figure: convergence})
	}
	return pictures, nil
}

// networkFigures draws what needs the network.
func networkFigures(ctx context.Context, w io.Writer, v *verification, n *graph.Network,
	c strategy.Strategy) ([]figures.Named, error) {
	errs, err := errorsFigure(ctx, v, n, c)
	if err != nil {
		return nil, err
	}
	pictures := []figures.Named{{Name: "errors", Figure: errs}}
	values, err := n.Gossip.Eigenvalues()
	if errors.Is(err, graph.ErrSpectrum) {
		fmt.Fprintf(w, "spectrum is not drawn: %v\n", err)
		return pictures, nil
	}
	if err != nil {
		return nil, err
	}
	spectrum, err := spectrumFigure(values)
	return append(pictures, figures.Named{Name: "spectrum", Figure: spectrum}), err
}

func matricesFigure(c strategy.Strategy, whose string) (*figures.Figure, error) {
	var lower, noising mat.TriDense
	c.StrategyTo(&lower)
	if err := c.NoisingTo(&noising); err != nil {
		return nil, fmt.Errorf("inverting the strategy: %w", err)
	}
	return figures.Heatmaps(figures.Matrix{Name: "strategy C" + whose, Values: &lower},
		figures.Matrix{Name: "noising matrix, the inverse of C", Values: &noising}), nil
}

// convergenceFigure shows how far loss and bound were from their ends, iteration by iteration.
func convergenceFigure(m *export.Manifest) (*figures.Figure, error) {
	loss, bound := figures.Curve{Name: "loss above the final bound"}, figures.Curve{Name: "bound below the final loss"}
	end := m.History[len(m.History)-1]
	before := 0.0
	for i, h := range m.History {
		if above := h.Loss/end.LowerBound - 1; above > 0 {
			loss.X, loss.Y = append(loss.X, float64(i)), append(loss.Y, above)
		}
		if below := 1 - h.LowerBound/end.Loss; below > 0 && h.LowerBound > before {
			before = h.LowerBound
			bound.X, bound.Y = append(bound.X, float64(i)), append(bound.Y, below)
		}
	}
	return figures.Lines(figures.Axes{Title: "Convergence of the dense optimum", X: "iteration", Y: "relative distance",
		LogY: true}, []figures.Curve{loss, bound})
}

// spectrumFigure shows the moduli of the eigenvalues, largest first.
func spectrumFigure(values []float64) (*figures.Figure, error) {
	curve := figures.Curve{Name: "eigenvalues"}
	for i, v := range values {
		curve.X, curve.Y = append(curve.X, float64(i+1)), append(curve.Y, v)
	}
	return figures.Lines(figures.Axes{Title: "Spectrum of the gossip matrix", X: "index",
		Y: "modulus of the eigenvalue", Dots: true}, []figures.Curve{curve})
}

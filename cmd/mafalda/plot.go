package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"mafalda/benchmarks"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/internal/figures"
	"mafalda/plan"
)

// plotFlags say what to draw, and where to.
type plotFlags struct {
	network cli.ExportNetworkFlags
	out     string
	node    int
	force   bool
}

func newPlotCmd() *cobra.Command {
	var f plotFlags
	cmd := &cobra.Command{
		Use:   "plot DIR",
		Short: "Draw an export: matrices, convergence, errors, spectrum",
		Long: `Draw an export, as .png, .svg and .pdf:

  matrices      C and C⁻¹ side by side, in signed colours
  convergence   how loss and lower bound approached each other
  errors        the error of every step, beside those of DP-D-SGD and D-MF
  spectrum      the eigenvalues of the gossip matrix, which say how fast errors spread
  sampling      of exports with --sampling poisson: errors at the same privacy, for epsilon from 0.25 to 16
  sharing       of exports with --trust secldp: who relies on whom, own noise as size and shared noise as width

Where nodes have strategies of their own, the matrices are those of --node, and the errors those of all nodes together,
each with its own. Errors and spectrum need the network. Built-in graphs are made again; for a graph or gossip matrix
from a file, name it. Nothing is written before everything is drawn.`,
		Example: `  mafalda plot out                 # into the current folder
  mafalda plot out --graph ego.edges -o figures`,
		Args: cli.ExactArgs(1, "one folder"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.network.Bind(cmd)
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
	n, note, err := f.network.Of(ctx, e)
	if err != nil {
		return err
	}
	if note != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "errors and spectrum are not drawn: "+note)
	}
	if err := cli.CheckPictures(f.out, figures.ExportNames(e.Manifest, n != nil), f.force); err != nil {
		return err
	}
	pictures, err := figures.Export(e.Manifest, c, f.node)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if n != nil {
		of, err := networkFigures(ctx, w, e, n)
		if err != nil {
			return err
		}
		pictures = append(pictures, of...)
	}
	for _, g := range pictures { // all are made before the first is written
		if err := cli.WriteFigure(w, f.out, g.Name, g.Figure, f.force); err != nil {
			return err
		}
	}
	return nil
}

// networkFigures draws what needs the network.
func networkFigures(ctx context.Context, w io.Writer, e *export.Export, n *graph.Network) ([]figures.Named, error) {
	var pictures []figures.Named
	methods, err := plan.StepErrors(ctx, e, n)
	switch {
	case errors.Is(err, plan.ErrNoSteps):
		fmt.Fprintf(w, "errors are not drawn: %v\n", err)
	case err != nil:
		return nil, err
	default:
		errs, err := figures.StepErrors(e.Manifest, n.Graph.Nodes(), methods)
		if err != nil {
			return nil, err
		}
		pictures = append(pictures, figures.Named{Name: "errors", Figure: errs})
	}
	if e.Shared != nil {
		sharing, err := figures.Sharing(n.Graph, e.Shared.Noise)
		if err != nil {
			return nil, err
		}
		pictures = append(pictures, figures.Named{Name: "sharing", Figure: sharing})
	} else if e.Manifest.Sampled() && !e.Manifest.Binned() {
		sampling, err := samplingFigure(ctx, e, n)
		if err != nil {
			return nil, err
		}
		pictures = append(pictures, figures.Named{Name: "sampling", Figure: sampling})
	}
	values, err := n.Gossip.Eigenvalues()
	if errors.Is(err, graph.ErrSpectrum) {
		fmt.Fprintf(w, "spectrum is not drawn: %v\n", err)
		return pictures, nil
	}
	if err != nil {
		return nil, err
	}
	spectrum, err := figures.Spectrum(e.Manifest, values)
	return append(pictures, figures.Named{Name: "spectrum", Figure: spectrum}), err
}

// samplingFigure draws errors at the delta of an export, over the epsilon.
func samplingFigure(ctx context.Context, e *export.Export, n *graph.Network) (*figures.Figure, error) {
	p, err := plan.ProblemOf(e, n)
	if err != nil {
		return nil, err
	}
	var epsilons []float64
	for i := range 13 {
		epsilons = append(epsilons, 0.25*math.Pow(2, float64(i)/2))
	}
	levels := benchmarks.Privacies{Epsilons: epsilons, Delta: e.Manifest.Sampling.Delta}
	curves, err := plan.SamplingCurve(ctx, p, levels, nil)
	if err != nil {
		return nil, err
	}
	return figures.Sampling(curves)
}

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/internal/figure"
)

func newPlotCmd() *cobra.Command {
	var out string
	var force bool
	var node int
	cmd := &cobra.Command{
		Use:   "plot DIR",
		Short: "Draw the matrices of an export",
		Long:  "Draw C and C⁻¹ of an export side by side, in signed colours, as matrices.png and matrices.svg.",
		Example: `  mafalda plot out                 # into the current folder
  mafalda plot out -o figures`,
		Args: exactArgs(1, "one folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			matrices, err := exported(args[0], node)
			if err != nil {
				return err
			}
			return writeFigure(cmd.OutOrStdout(), out, "matrices", figure.Heatmaps(matrices...), force)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", ".", "write the pictures to this `folder`")
	cmd.Flags().Var((*wholeNumber)(&node), "node", "whose strategy to draw, by its index in nodes.csv, if nodes have their own")
	cmd.Flags().BoolVar(&force, "force", false, "replace pictures that are there")
	return cmd
}

// exported returns C and C⁻¹ of a node of an export, made from its parameters if need be.
func exported(dir string, node int) ([]figure.Matrix, error) {
	e, err := export.Load(dir)
	if err != nil {
		return nil, usage(err)
	}
	layer, err := e.Node(node)
	if err != nil {
		return nil, usage(err)
	}
	var c, inverse mat.Matrix = layer.C, layer.Inverse
	if layer.C == nil {
		s, err := rebuild(e.Manifest.Strategy, e.Manifest.Steps)
		if err != nil {
			return nil, usage(fmt.Errorf("%s: %w", dir, err))
		}
		var lower, noising mat.TriDense
		s.StrategyTo(&lower)
		if err := s.NoisingTo(&noising); err != nil {
			return nil, fmt.Errorf("inverting the strategy: %w", err)
		}
		c, inverse = &lower, &noising
	}
	return []figure.Matrix{{Name: "strategy C", Values: c}, {Name: "noising matrix, the inverse of C", Values: inverse}}, nil
}

// writeFigure writes a figure in every format to the folder and says where.
func writeFigure(w io.Writer, dir, name string, f *figure.Figure, force bool) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("making the folder of the figures: %w", err)
	}
	for _, ext := range figure.Formats() {
		path := filepath.Join(dir, name+ext)
		if err := export.WriteFile(path, func(w io.Writer) error { return f.WriteAs(w, path) }, force); err != nil {
			return usageIfExists(err)
		}
		fmt.Fprintf(w, "written  %s\n", path)
	}
	return nil
}

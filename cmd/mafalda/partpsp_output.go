package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"mafalda/internal/cli"
	"mafalda/internal/figures"
	"mafalda/protocols/dpps"
	"mafalda/simulate"
)

func (t *partTraining) print(w io.Writer) error {
	f := t.flags
	var widths []string
	for _, v := range t.result.Widths {
		widths = append(widths, strconv.Itoa(v))
	}
	fmt.Fprintf(w, "task           %s, model %s (tanh), %d nodes, %s\n", f.task, strings.Join(widths, "-"), f.nodes, cli.Count(t.result.Cells[0].Rounds, "round"))
	fmt.Fprintf(w, "noise          Laplace of scale %g·S/b in every shared parameter; synchronized every %d rounds\n", f.push.gammaN, f.push.sync)
	source := map[string]string{"real": "the real one, which no node knows: the best that can be expected", "sound": "estimated with constants that are enough for the network",
		"paper": "estimated with the paper's constants, which can be too small"}[f.push.estimate]
	fmt.Fprintf(w, "sensitivity S  %s\n", source)
	fmt.Fprintf(w, "accuracy       in %%, mean of %s\n\n", cli.Count(f.seeds, "run"))
	header := []string{"method", "b", "epsilon of a round"}
	for _, n := range t.grid.Networks {
		header = append(header, n.Name)
	}
	var rows [][]string
	for at := 0; at < len(t.result.Cells); at += len(t.grid.Networks) {
		first := t.result.Cells[at]
		row := []string{t.grid.MethodOf(first.Shared), "no noise", "–"}
		if first.B != nil {
			row[1], row[2] = fmt.Sprintf("%g", *first.B), cli.DecimalUp(*first.Epsilon, 6)
		}
		for _, c := range t.result.Cells[at : at+len(t.grid.Networks)] {
			text := fmt.Sprintf("%.2f", 100*c.Accuracy)
			if c.Std != nil {
				text += fmt.Sprintf(" ± %.2f", 100**c.Std)
			}
			if c.Diverged > 0 {
				text += fmt.Sprintf(" (%d diverged)", c.Diverged)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return cli.Table(w, header, rows)
}

// figureRounds is how many rounds are drawn, as in Figure 2 of Zhou et al.
const figureRounds = 40

// figures are a picture for every network and b.
func (t *partTraining) figures(ctx context.Context, bar *cli.Progress) ([]figures.Named, error) {
	var list []figures.Named
	for i, n := range t.grid.Networks {
		for j, b := range t.flags.bs {
			bar.Show(float64(i*len(t.flags.bs)+j)/float64(len(t.grid.Networks)*len(t.flags.bs)), "figures")
			g, err := t.sensitivityFigure(ctx, n, b)
			if err != nil {
				return nil, fmt.Errorf("drawing: %w", err)
			}
			name := "sensitivity-" + strings.ReplaceAll(n.Name, ":", "-")
			if len(t.flags.bs) > 1 {
				name += fmt.Sprintf("-b-%g", b)
			}
			if g != nil {
				list = append(list, figures.Named{Name: name, Figure: g})
			}
		}
	}
	return list, nil
}

// sensitivityFigure shows real and estimated sensitivity in training under noise of this b, for all that is shared: as
// estimated in the table, but soundly where that takes the real one. It is nil if no round has come to an end.
func (t *partTraining) sensitivityFigure(ctx context.Context, n simulate.PartPSPNetwork, b float64) (*figures.Figure, error) {
	push := t.flags.push
	if push.estimate == "real" {
		push.estimate = "sound"
	}
	var err error
	if n.Calibration, _, err = push.calibrate(ctx, n.Sequence, nil); err != nil {
		return nil, err
	}
	grid := t.grid
	grid.PushSum = push.options(dpps.Calibration{})
	var curves []figures.Curve
	for _, shared := range grid.Shared {
		reports, err := grid.Sensitivities(ctx, n, shared, b, figureRounds)
		if err != nil {
			return nil, err
		}
		real := figures.Curve{Name: fmt.Sprintf("real, %s", t.grid.MethodOf(shared))}
		estimated := figures.Curve{Name: fmt.Sprintf("estimated, %s", t.grid.MethodOf(shared)), Dashed: true}
		for _, round := range reports {
			if round.Real > 0 && round.Estimated > 0 {
				real.X, real.Y = append(real.X, float64(round.Round)), append(real.Y, round.Real)
				estimated.X, estimated.Y = append(estimated.X, float64(round.Round)), append(estimated.Y, round.Estimated)
			}
		}
		if len(real.X) > 0 {
			curves = append(curves, real, estimated)
		}
	}
	if len(curves) == 0 {
		return nil, nil
	}
	title := fmt.Sprintf("PartPSP on %s, b = %g, gamma-n = %g: sensitivity (%s estimates)", n.Name, b, push.gammaN,
		push.estimate)
	return figures.Lines(figures.Axes{Title: title, X: "round", Y: "largest distance of messages in L1", LogY: true},
		curves)
}

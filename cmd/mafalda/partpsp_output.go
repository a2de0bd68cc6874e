package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"mafalda/internal/figure"
)

// methodOf names how much is shared as the paper does.
func methodOf(shared int) string {
	if shared == 3 {
		return "SGPDP"
	}
	return fmt.Sprintf("PartPSP-%d", shared)
}

func (t *partTraining) print(w io.Writer) error {
	f := t.flags
	var widths []string
	for _, v := range t.result.Widths {
		widths = append(widths, strconv.Itoa(v))
	}
	fmt.Fprintf(w, "task           %s, model %s (tanh), %d nodes, %s\n", f.task, strings.Join(widths, "-"), f.nodes, count(t.result.Cells[0].Rounds, "round"))
	fmt.Fprintf(w, "noise          Laplace of scale %g·S/b in every shared parameter; synchronized every %d rounds\n", f.push.gammaN, f.push.sync)
	source := map[string]string{"real": "the real one, which no node knows: the best that can be expected", "sound": "estimated with constants that are enough for the network",
		"paper": "estimated with the paper's constants, which can be too small"}[f.push.estimate]
	fmt.Fprintf(w, "sensitivity S  %s\n", source)
	fmt.Fprintf(w, "accuracy       in %%, mean of %s\n\n", count(f.seeds, "run"))
	header := []string{"method", "b", "epsilon of a round"}
	for _, n := range t.networks {
		header = append(header, n.name)
	}
	var rows [][]string
	for at := 0; at < len(t.result.Cells); at += len(t.networks) {
		first := t.result.Cells[at]
		row := []string{methodOf(first.Shared), "no noise", "–"}
		if first.B != nil {
			row[1], row[2] = fmt.Sprintf("%g", *first.B), decimalUp(*first.Epsilon, 6)
		}
		for _, c := range t.result.Cells[at : at+len(t.networks)] {
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
	return table(w, header, rows)
}

func (t *partTraining) write(ctx context.Context) error {
	var figures []namedFigure
	for _, n := range t.networks {
		g, err := t.sensitivityFigure(ctx, n)
		if err != nil {
			return fmt.Errorf("drawing: %w", err)
		}
		figures = append(figures, namedFigure{"sensitivity-" + strings.ReplaceAll(n.name, ":", "-"), g})
	}
	return writeResult(t.flags.out, partName, t.result, figures, t.flags.force)
}

// Figure 2 of Zhou et al. is for this b and so many rounds.
const (
	figureB      = 5
	figureRounds = 40
)

// sensitivityFigure shows real and estimated sensitivity in training, with sound constants, for one and two shared layers.
func (t *partTraining) sensitivityFigure(ctx context.Context, n partNetwork) (*figure.Figure, error) {
	sound := t.flags.push
	sound.estimate = "sound"
	calibration, _, err := sound.calibrate(ctx, n.sequence, nil)
	if err != nil {
		return nil, err
	}
	var curves []figure.Curve
	for _, shared := range []int{1, 2} {
		p := t.configure(n, shared, figureB, 0)
		sound.b = figureB
		p.PushSum = sound.options(calibration)
		perEpoch := max(p.Train.Len()/t.flags.nodes/p.Batch, 1)
		p.Epochs = (figureRounds + perEpoch - 1) / perEpoch
		r, err := p.Run(ctx, 0)
		if err != nil {
			return nil, err
		}
		real := figure.Curve{Name: fmt.Sprintf("real, %s shared", count(shared, "layer"))}
		estimated := figure.Curve{Name: fmt.Sprintf("estimated, %s shared", count(shared, "layer")), Dashed: true}
		for _, round := range r.Rounds[:min(figureRounds, len(r.Rounds))] {
			if round.Real > 0 && round.Estimated > 0 {
				real.X, real.Y = append(real.X, float64(round.Round)), append(real.Y, round.Real)
				estimated.X, estimated.Y = append(estimated.X, float64(round.Round)), append(estimated.Y, round.Estimated)
			}
		}
		curves = append(curves, real, estimated)
	}
	return figure.Lines(figure.Axes{Title: fmt.Sprintf("PartPSP on %s, b = %d, gamma-n = %g: sensitivity", n.name, figureB, t.flags.push.gammaN), X: "round",
		Y: "largest distance of messages in L1", LogY: true}, curves)
}

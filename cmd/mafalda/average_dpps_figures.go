package main

import (
	"context"
	"fmt"

	"mafalda/internal/cli"
	"mafalda/internal/figures"
)

// figures are the counterpart of Figure 2 of Zhou et al., and the error.
func (a *dppsAveraging) figures(context.Context, *cli.Progress) ([]figures.Named, error) {
	r := &a.result
	real, estimated := figures.Curve{Name: "real"}, figures.Curve{Name: "estimated (" + r.Estimate + ")"}
	errors := figures.Curve{Name: "error"}
	for i, p := range r.Rounds {
		if p.Real > still*r.Rounds[0].Estimated && p.Estimated > still*r.Rounds[0].Estimated {
			real.X, real.Y = append(real.X, float64(p.Round)), append(real.Y, p.Real)
			estimated.X, estimated.Y = append(estimated.X, float64(p.Round)), append(estimated.Y, p.Estimated)
		}
		errors.X, errors.Y = append(errors.X, float64(i)), append(errors.Y, r.Errors[i])
	}
	var list []figures.Named
	if len(real.X) > 0 {
		sensitivity, err := figures.Lines(figures.Axes{Title: fmt.Sprintf("DPPS on %s, b = %g: sensitivity", r.Graph, r.B), X: "round", Y: "largest distance of messages in L1",
			LogY: true, Marks: true}, []figures.Curve{estimated, real})
		if err != nil {
			return nil, err
		}
		list = append(list, figures.Named{Name: "sensitivity", Figure: sensitivity})
	}
	if len(errors.X) == 0 {
		return list, nil
	}
	last := len(r.Errors) - 1
	errors.X, errors.Y = append(errors.X, float64(last)), append(errors.Y, r.Errors[last])
	f, err := figures.Lines(figures.Axes{Title: fmt.Sprintf("DPPS on %s, b = %g: error", r.Graph, r.B), X: "round", Y: "‖y(t) - average‖₂", Marks: true}, []figures.Curve{errors})
	return append(list, figures.Named{Name: "error", Figure: f}), err
}

package figures

import (
	"fmt"
	"math"
	"slices"

	"mafalda/internal/lists"
	"mafalda/plan"
)

// Advice shows the errors of ways to make noise for a case. It is nil if there is no way.
func Advice(c *plan.Comparison) (*Figure, error) {
	d := Dots{Title: "Ways to make noise: " + problemText(c.Case.Problem), Axis: "squared error at the privacy, for clip 1"}
	if c.Case.Training != nil {
		d.Axis = "predicted excess risk, each at its best rate and number of steps"
	}
	for _, w := range c.Ways {
		series := "relies on more"
		if w.Ranked {
			series = "relies on what was said"
		}
		d.Add(series, w.Name(), w.Cost())
	}
	return d.Figure()
}

// Rates shows the predicted excess risk of ways over the learning rate, of each with the strategy and number of steps
// that are its best. It is nil without predictions.
func Rates(c *plan.Comparison) (*Figure, error) {
	lengths := slices.ContainsFunc(c.Ways, func(w plan.Way) bool { return w.Steps != c.Ways[0].Steps })
	curves := lists.Map(c.Ways, func(w plan.Way) (of Curve) {
		of = Curve{Name: w.Name(), Dashed: !w.Ranked}
		if lengths {
			of.Name += fmt.Sprintf(", T = %d", w.Steps)
		}
		for _, at := range w.Curve {
			of.X, of.Y = append(of.X, at.Rate), append(of.Y, at.Total())
		}
		return of
	})
	highest := c.Start() // what is above is no training
	for _, w := range c.Ways {
		highest = math.Max(highest, 2*w.Total())
	}
	return Lines(Axes{Title: "Excess risk of a training: " + problemText(c.Case.Problem), X: "base learning rate",
		Y: "predicted excess risk", LogX: true, LogY: true, MaxY: highest}, curves)
}

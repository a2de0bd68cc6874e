package figures

import (
	"fmt"
	"math"

	"mafalda/internal/lists"
	"mafalda/plan"
)

// Advice shows the errors of ways to make noise for a case. It is nil if there is no way.
func Advice(c *plan.Comparison) (*Figure, error) {
	ranked := Series{Name: "relies on what was said", Values: map[string]float64{}}
	others := Series{Name: "relies on more", Values: map[string]float64{}}
	var rows []string
	for _, w := range c.Ways {
		of := others
		if w.Ranked {
			of = ranked
		}
		of.Values[w.Name()] = w.Cost()
		rows = append(rows, w.Name())
	}
	axis := "squared error at the privacy, for clip 1"
	if c.Case.Training != nil {
		axis = "predicted excess risk, each at its best rate and number of steps"
	}
	return Dots("Ways to make noise: "+problemText(c.Case.Problem), axis, rows, []Series{ranked, others})
}

// Rates shows the predicted excess risk of ways over the learning rate, of each with the strategy and number of steps
// that are its best. It is nil without predictions.
func Rates(c *plan.Comparison) (*Figure, error) {
	curves := lists.Map(c.Ways, func(w plan.Way) (of Curve) {
		of = Curve{Name: fmt.Sprintf("%s, T = %d", w.Name(), w.Steps), Dashed: !w.Ranked}
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

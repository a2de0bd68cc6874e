package figures

import (
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
		of.Values[w.Name()] = w.ErrorAtPrivacy
		rows = append(rows, w.Name())
	}
	return Dots("Ways to make noise: "+problemText(c.Case.Problem), "squared error at the privacy, for clip 1", rows,
		[]Series{ranked, others})
}

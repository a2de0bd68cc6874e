package figures

import (
	"fmt"

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
	source := "no network"
	if n := c.Case.Problem.Network; n != nil {
		source = n.Origin.Source
	}
	s := c.Case.Problem.Schema
	title := fmt.Sprintf("Ways to make noise: %s, T = %d, k = %d, b = %d", source, s.Steps(), s.Participations(),
		s.Separation())
	return Dots(title, "squared error at the privacy, for clip 1", rows, []Series{ranked, others})
}

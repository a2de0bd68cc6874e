package results

import (
	"slices"

	"mafalda/cmd/internal/document"
	"mafalda/internal/lists"
	"mafalda/noise"
)

// SpentResult is what an odometer prints as JSON.
type SpentResult struct {
	Export string        `json:"export"`         // the folder, as it was named
	Node   string        `json:"node,omitempty"` // absent: the numbers are of the node that has spent the most
	Steps  int           `json:"T"`
	Spent  []noise.Spent `json:"spent"`
}

// SpentSteps returns at most count steps of T, evenly spread, the last one among them.
func SpentSteps(steps, count int) []int {
	count = min(count, steps)
	return lists.Make(count, func(i int) int { return (i + 1) * steps / count })
}

var odometerPage = document.Page[*SpentResult](pages, "odometer")

// Document says what is spent after steps: a line each.
func (r *SpentResult) Document() *document.Document { return odometerPage(r) }

// OneDelta reports whether all numbers have the same δ, or none: nodes with budgets of their own may have different ones, and from
// step to step another node may have spent the most.
func (r *SpentResult) OneDelta() bool {
	of := func(s noise.Spent) float64 {
		if s.Delta == nil {
			return 0
		}
		return *s.Delta
	}
	return !slices.ContainsFunc(r.Spent, func(s noise.Spent) bool { return of(s) != of(r.Spent[0]) })
}

// Several reports whether nodes have different numbers.
func (r *SpentResult) Several() bool {
	return slices.ContainsFunc(r.Spent, func(s noise.Spent) bool { return s.Node != "" })
}

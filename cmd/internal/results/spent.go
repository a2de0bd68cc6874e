package results

import (
	"slices"
	"strconv"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
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

// SpentDocument says what is spent after steps: a line each.
func SpentDocument(r *SpentResult) *document.Document {
	d := document.New("odometer", "What has been given away after so many steps of a run, and not only when it is over.")
	d.Fact("export", "%s, T = %d steps", r.Export, r.Steps)
	if r.Node != "" {
		d.Fact("node", "%s", r.Node)
	}
	if delta, one := oneDelta(r.Spent); one && delta != 0 {
		d.Fact("delta", "%s", terminal.AsGiven(delta))
	}
	d.Table(spentTable(r.Spent))
	d.Line("%s", spentFor)
	return d
}

// spentFor says what the numbers are for.
const spentFor = "After so many steps: the rows before are out, the next ones are not. For a run whose end does not depend on the " +
	"data; whoever stops because of what a model shows can claim the guarantee of the whole plan alone."

// oneDelta returns the δ of all numbers, 0 for none, and whether they have the same: nodes with budgets of their own may have
// different ones, and from step to step another node may have spent the most.
func oneDelta(spent []noise.Spent) (delta float64, one bool) {
	of := func(s noise.Spent) float64 {
		if s.Delta == nil {
			return 0
		}
		return *s.Delta
	}
	return of(spent[0]), !slices.ContainsFunc(spent, func(s noise.Spent) bool { return of(s) != of(spent[0]) })
}

// spentTable has a line a step, and a column of deltas where they differ.
func spentTable(spent []noise.Spent) document.Table {
	t := document.Table{Caption: "Spent after so many steps"}
	_, one := oneDelta(spent)
	several := slices.ContainsFunc(spent, func(s noise.Spent) bool { return s.Node != "" })
	for _, s := range spent {
		row := []string{"steps", strconv.Itoa(s.Steps)}
		if spent[0].Mu != nil {
			row = append(row, "mu", numberOrDash(s.Mu))
		}
		if !one || spent[0].Epsilon != nil {
			row = append(row, "epsilon", numberOrDash(s.Epsilon))
		}
		if !one {
			row = append(row, "delta", orDash(s.Delta, terminal.AsGiven))
		}
		if row = append(row, "by", string(s.By)); several {
			row = append(row, "node", s.Node)
		}
		t.Row(row...)
	}
	return t
}

package figures

import (
	"fmt"
	"strings"

	"mafalda/protocols"
	"mafalda/protocols/gossip"
	"mafalda/study"
)

// GossipErrors shows the distance from the average over the rounds of gossip.
func GossipErrors(r *gossip.Result) (*Figure, error) {
	const shown = 200
	c := Curve{Name: "error"}
	for t, v := range r.Errors[:min(len(r.Errors), shown)] {
		c.X, c.Y = append(c.X, float64(t)), append(c.Y, v)
	}
	title := fmt.Sprintf("Gossip on %s with noise %g: error", r.Graph, r.NoiseStd)
	return Lines(Axes{Title: title, X: "round", Y: "‖v(t) - average‖₂"}, []Curve{c})
}

const comparisonFigure = "error"

// ComparisonSpec is the comparison's, with its figure among the summaries.
func ComparisonSpec(c *protocols.Comparison) study.Spec {
	s := c.Spec()
	s.Summaries = WithFiles(s.Summaries, comparisonFigure)
	return s
}

// ComparisonFiles returns the picture of the compared protocols in every format.
func ComparisonFiles(c *protocols.Comparison, outcomes []protocols.Outcome) []study.File {
	f, err := Compared(c, outcomes)
	return Files(comparisonFigure, f, err)
}

// Compared shows the distance from the average over the rounds of protocols. outcomes belong to c.Cells, in order.
func Compared(c *protocols.Comparison, outcomes []protocols.Outcome) (*Figure, error) {
	var curves []Curve
	for i, cell := range c.Cells() {
		curves = append(curves, positive(Curve{Name: cell.Protocol, Dashed: cell.Protocol == protocols.Plain},
			outcomes[i].Errors()))
	}
	title := fmt.Sprintf("Averaging on %s: error", c.Problem.Network.Origin.Source)
	return Lines(Axes{Title: title, X: "round", Y: "‖v(t) - average‖₂", LogY: true}, curves)
}

// Papers are the figures of the papers that have averaging.
func Papers(p *protocols.Papers) ([]Named, error) {
	list, err := PPAC(p.Example, p.Swept)
	if err != nil {
		return nil, err
	}
	names := map[string]string{"values": "figure-3", "error": "figure-4", "leakage": "figure-5", "time": "time"}
	for i := range list {
		list[i].Name = "ppac-" + names[list[i].Name]
	}
	cycles, err := PPACCycles(p.Cycles)
	if err != nil {
		return nil, err
	}
	list = append(list, Named{Name: "ppac-figure-7", Figure: cycles})
	for _, r := range p.Sensitivity {
		f, err := DPPSSensitivity(r)
		if err != nil {
			return nil, err
		}
		list = append(list, Named{Name: "dpps-" + strings.NewReplacer(":", "-", ",", "-").Replace(r.Graph), Figure: f})
	}
	return list, nil
}

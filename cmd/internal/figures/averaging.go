package figures

import (
	"fmt"
	"strings"

	"mafalda/protocols"
	"mafalda/protocols/gossip"
)

// GossipErrors shows the distance from the average over the rounds of gossip.
func GossipErrors(r *gossip.Result) (*Figure, error) {
	const most = 200
	shown := r.Errors[:min(len(r.Errors), most)]
	c := Curve{Name: "error", X: rounds(len(shown)), Y: shown}
	title := fmt.Sprintf("Gossip on %s, σ = %g: error", r.Graph, r.NoiseStd)
	return Lines(Axes{Title: title, X: "round", Y: "‖v(t) − average‖₂"}, []Curve{c})
}

// Compared shows the distance from the average over the rounds of protocols. outcomes belong to c.Cells, in order.
func Compared(c *protocols.Comparison, outcomes []protocols.Outcome) (*Figure, error) {
	var curves []Curve
	for i, cell := range c.Cells() {
		curves = append(curves, positive(Curve{Name: cell.Protocol, Method: cell.Protocol, Dashed: cell.Protocol == protocols.Plain},
			outcomes[i].Errors()))
	}
	title := fmt.Sprintf("Averaging on %s: error", c.Problem.Network.Origin.Source)
	return Lines(Axes{Title: title, X: "round", Y: "‖v(t) − average‖₂", LogY: true}, curves)
}

// Papers are the figures of the papers that have averaging.
func Papers(p *protocols.Papers) Pictures {
	swept := PPAC(p.Example, p.Swept)
	names := map[string]string{"values": "figure-3", "error": "figure-4", "leakage": "figure-5", "time": "time"}
	for i, f := range swept.All {
		swept.All[i].Name = "ppac-" + names[f.Name]
	}
	swept.Add("ppac-figure-7")(PPACCycles(p.Cycles))
	for _, r := range p.Sensitivity {
		swept.Add("dpps-" + strings.NewReplacer(":", "-", ",", "-").Replace(r.Graph))(DPPSSensitivity(r))
	}
	return swept
}

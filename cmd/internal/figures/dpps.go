package figures

import (
	"fmt"

	"mafalda/protocols/dpps"
)

// DPPS are the sensitivity of a run, if it has any, and the error.
func DPPS(r *dpps.Result) (p Pictures) {
	if len(r.Rounds) > 0 {
		p.Add("sensitivity")(DPPSSensitivity(r))
		p.Add("error")(DPPSErrors(r))
	}
	return p
}

// DPPSSensitivity is the counterpart of Figure 2 of Zhou et al.: real and estimated sensitivity over the rounds. It is
// nil if no round has any.
func DPPSSensitivity(r *dpps.Result) (*Figure, error) {
	real, estimated := Curve{Name: "real"}, Curve{Name: "estimated (" + r.Estimate + ")"}
	for _, p := range r.Rounds {
		if r.Moves(p.Real) && r.Moves(p.Estimated) {
			real.add(float64(p.Round), p.Real)
			estimated.add(float64(p.Round), p.Estimated)
		}
	}
	title := fmt.Sprintf("DPPS on %s, b = %g: sensitivity", r.Graph, r.B)
	return Lines(Axes{Title: title, X: "round", Y: "largest distance of messages, ‖·‖₁", LogY: true, Marks: true},
		[]Curve{estimated, real})
}

// DPPSErrors shows the distance from the average before and after every round.
func DPPSErrors(r *dpps.Result) (*Figure, error) {
	c := Curve{Name: "error", X: rounds(len(r.Errors)), Y: r.Errors}
	title := fmt.Sprintf("DPPS on %s, b = %g: error", r.Graph, r.B)
	return Lines(Axes{Title: title, X: "round", Y: "‖y(t) − average‖₂", Marks: true}, []Curve{c})
}

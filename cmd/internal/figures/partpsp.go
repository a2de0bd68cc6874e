package figures

import (
	"fmt"
	"slices"
	"strings"

	"mafalda/simulate"
)

// PartPSP are a picture of sensitivities for every network and level of noise whose rounds have any. The level is in the
// names if there are several.
func PartPSP(all []simulate.PartPSPCurves) (p Pictures) {
	several := slices.ContainsFunc(all, func(c simulate.PartPSPCurves) bool { return c.B != all[0].B })
	for _, c := range all {
		name := "sensitivity-" + strings.ReplaceAll(c.Network, ":", "-")
		if several {
			name += fmt.Sprintf("-b-%g", c.B)
		}
		p.Add(name)(PartPSPSensitivity(c))
	}
	return p
}

// PartPSPSensitivity shows real and estimated sensitivity in training, for all that is shared. It is nil if no round
// has come to an end.
func PartPSPSensitivity(c simulate.PartPSPCurves) (*Figure, error) {
	var curves []Curve
	for i, method := range c.Methods {
		real, estimated := Curve{Name: "real, " + method}, Curve{Name: "estimated, " + method, Like: "real, " + method, Dashed: true}
		for _, round := range c.Rounds[i] {
			if round.Real > 0 && round.Estimated > 0 {
				real.add(float64(round.Round), round.Real)
				estimated.add(float64(round.Round), round.Estimated)
			}
		}
		if len(real.X) > 0 {
			curves = append(curves, real, estimated)
		}
	}
	title := fmt.Sprintf("PartPSP on %s, b = %g, gamma-n = %g: sensitivity (%s estimates)", c.Network, c.B,
		c.Plan.NoiseRate, c.Plan.Source)
	return Lines(Axes{Title: title, X: "round", Y: "largest distance of messages, ‖·‖₁", LogY: true}, curves)
}

package simulate

import (
	"context"

	"mafalda/protocols/dpps"
)

// PartPSPCurves are real and estimated sensitivities in the first rounds of training on a network, under noise of one
// level, for everything that is shared.
type PartPSPCurves struct {
	Network string
	B       float64
	Plan    dpps.Plan // the plan whose estimates they are
	Methods []string
	Rounds  [][]dpps.Report // reports of the rounds, by method
}

// PartPSPRounds is how many rounds have curves, as in Figure 2 of Zhou et al.
const PartPSPRounds = 40

// Curves trains for the curves of every network and level, in this order: with the estimates of the plan, but sound
// ones where it takes the real sensitivity. It fails as Train and dpps.Sequence.Calibrate do.
func (p *PartPSP) Curves(ctx context.Context, plan dpps.Plan, progress func(fraction float64)) ([]PartPSPCurves,
	error) {
	if plan.Source == dpps.Omniscient {
		plan.Source = dpps.Sound
	}
	grid := *p
	grid.Options.Plan = plan
	var all []PartPSPCurves
	for _, n := range p.Networks {
		var err error
		if n.Calibration, err = plan.Calibrate(ctx, n.Sequence, nil); err != nil {
			return nil, err
		}
		for _, b := range p.Options.Bs {
			if progress != nil {
				progress(float64(len(all)) / float64(len(p.Networks)*len(p.Options.Bs)))
			}
			c := PartPSPCurves{Network: n.Name, B: b, Plan: plan}
			for _, shared := range p.Options.Shared {
				rounds, err := grid.Sensitivities(ctx, n, shared, b, PartPSPRounds)
				if err != nil {
					return nil, err
				}
				c.Methods, c.Rounds = append(c.Methods, p.MethodOf(shared)), append(c.Rounds, rounds)
			}
			all = append(all, c)
		}
	}
	return all, nil
}

package figures

import (
	"fmt"
	"path/filepath"
	"slices"

	"mafalda/participation"
	"mafalda/threat"
)

// ExposureOptions say what an exposure is of.
type ExposureOptions struct {
	Algorithm    string
	Graph        string // where it comes from
	Schema       participation.Schema
	Local        float64 // squared sensitivity of local DP
	Sigma, Alpha float64 // values in threat.AssessOptions; Sigma is 0 where nodes have levels of their own
}

// Exposure draws what attackers learn by distance, as in Figure 2 of Bellet et al.: the Rényi divergence. It is nil if
// no distance has finite pairs only.
func Exposure(reports []threat.Report, o ExposureOptions) (*Figure, error) {
	scale := o.Alpha / 2
	if o.Sigma > 0 {
		scale /= o.Sigma * o.Sigma
	}
	curves := []Curve{{Name: "mean"}, {Name: "most"}, {Name: "least"},
		{Name: "Cyffers et al. 2022 (mean)", Dotted: true, Bound: true}, {Name: "local DP", Dashed: true, Bound: true}, {Name: "most, as the seed draws alone", Dashed: true}}
	for _, r := range threat.ByDistance(reports) {
		if r.Distance == threat.NoPath || r.Infinite > 0 {
			continue
		}
		values := []*float64{&r.Mean, &r.Most, &r.Least, r.Cyffers, &o.Local, r.Drawn}
		if o.Sigma == 0 { // sensitivities of nodes with different noise say nothing beside each other
			values = []*float64{nil, square(&r.Mu), nil, nil, square(reports[0].LocalMu), square(r.DrawnMu)}
		}
		addTo(curves, r.Distance, scale, values...)
	}
	holds := ""
	if len(reports) > 0 {
		holds = reports[0].HoldsFor
	}
	return linesOf(Axes{
		Title: fmt.Sprintf("Privacy lost by distance: %s on %s", o.Algorithm, schemaText(filepath.Base(o.Graph),
			o.Schema.Steps(), o.Schema.Participations(), o.Schema.Separation())) + conditionLines(holds),
		X: "distance from the attacker", Y: fmt.Sprintf("Rényi divergence of order %g", o.Alpha), LogY: true, Marks: true,
	}, curves)
}

// conditionLines returns lines below a title that say what a picture holds for; none where holds is empty.
func conditionLines(holds string) string {
	if holds == "" {
		return ""
	}
	return "\nholds for " + holds
}

// Growth draws what an attacker learns a step against the number of steps, as in Figure 1 of Koskela & Kulkarni, and says
// what that holds for if it does not hold for all. It is nil if there is nothing to draw.
func Growth(rows []threat.GrowthRow, holdsFor string) (*Figure, error) {
	curves := []Curve{{Name: "neighbours (mean)"}, {Name: "others (mean)"}, {Name: "asymptote of equal gradients (no bound)", Dashed: true},
		{Name: "local DP", Dashed: true, Bound: true}, {Name: "neighbours, as the seed draws alone (mean)", Dashed: true},
		{Name: "others, as the seed draws alone (mean)", Dashed: true}}
	for _, r := range rows {
		if r.Neighbours == nil && r.Others == nil {
			continue
		}
		addTo(curves, r.Steps, 1, r.Neighbours, r.Others, r.Asymptote, r.Local, r.NeighboursDrawn, r.OthersDrawn)
	}
	axes := Axes{Title: "Squared sensitivity a step" + conditionLines(holdsFor), X: "steps T", Y: "sens²/T",
		LogY: true, Marks: true}
	return linesOf(axes, curves)
}

// linesOf draws the curves that have points; nil if none has.
func linesOf(axes Axes, curves []Curve) (*Figure, error) {
	return Lines(axes, slices.DeleteFunc(curves, func(c Curve) bool { return len(c.X) == 0 }))
}

// addTo adds values at a place to curves in this order, as far as there are any.
func addTo(curves []Curve, x int, scale float64, values ...*float64) {
	for i, v := range values {
		if v != nil {
			curves[i].add(float64(x), scale**v)
		}
	}
}

func square(v *float64) *float64 {
	if v == nil {
		return nil
	}
	return new(*v * *v)
}

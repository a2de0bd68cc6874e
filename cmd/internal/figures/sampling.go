package figures

import (
	"fmt"
	"io"
	"slices"

	"mafalda/internal/text"
	"mafalda/plan"
)

// Sampling shows the squared error at the same privacy, over ε, a colour a scheme: Poisson sampling with one band and with
// the best number at every ε (or of an export with its number), the best number with random allocation, and what random bins
// reach, with the lower bounds of Poisson sampling and bins in grey; all relative to the dense optimum for batches in turn.
func Sampling(s *plan.SamplingCurves) (*Figure, error) {
	var curves []Curve
	ofExport := len(s.Rows) > 0 && s.Rows[0].Best == nil // there are its own numbers of bands, and no best ones
	draw := func(c Curve, ratio func(r plan.SamplingRow) float64) {
		for _, r := range s.Rows {
			c.add(r.Epsilon, ratio(r))
		}
		curves = append(curves, c)
	}
	ratio := func(at *plan.AtPrivacy) float64 {
		if at == nil {
			return 0
		}
		return at.Ratio
	}
	draw(Curve{Name: "in turn, certified optimum", Method: "in turn"}, func(plan.SamplingRow) float64 { return 1 })
	if len(s.Rows) > 0 {
		for i, b := range s.Rows[0].Bands {
			curve := Curve{Name: fmt.Sprintf("Poisson, %d bands", b.Bands), Method: "poisson"}
			curve.Dashed, curve.Dotted = i%2 == 1, i%4 > 1
			if b.Bands == 1 {
				curve.Name, curve.Dashed = "Poisson, 1 band (DP-D-SGD)", !ofExport
			} else if !ofExport {
				continue
			}
			draw(curve, func(r plan.SamplingRow) float64 { return r.Bands[i].Ratio })
		}
	}
	draw(Curve{Name: "Poisson, best number of bands", Method: "poisson"}, func(r plan.SamplingRow) float64 { return ratio(r.Best) })
	draw(Curve{Name: "allocation, best number of bands", Method: "allocation"}, func(r plan.SamplingRow) float64 { return ratio(r.Allocation) })
	draw(Curve{Name: "bins, reached", Method: "bins"}, func(r plan.SamplingRow) float64 {
		if r.Bins == nil {
			return 0
		}
		return r.Bins.Ratio
	})
	draw(Curve{Name: "bound for Poisson alone", Dashed: true, Bound: true, Lower: true},
		func(r plan.SamplingRow) float64 { return r.PoissonLowerBound / r.Cyclic })
	draw(Curve{Name: "bound for bins alone", Dotted: true, Bound: true, Lower: true},
		func(r plan.SamplingRow) float64 { return r.BinsLowerBound / r.Cyclic })
	title := fmt.Sprintf("Secret batches at the same (ε, δ): %s, δ = %s", problemText(s.Problem), printed(s.Delta))
	return Lines(Axes{Title: title, X: "ε", Y: "squared error / error of the optimum for batches in turn", LogX: true,
		MaxY: 2, Marks: ofExport}, curves)
}

// WriteSampling writes a line of CSV for every ε and every number of bands in the picture, and for the best number, with
// all digits.
func WriteSampling(w io.Writer, c *plan.SamplingCurves) error {
	lines := text.NewCSV("epsilon,delta,bands,noise_multiplier,error_at_privacy,cyclic_error_at_privacy,ratio,best," +
		"poisson_lower_bound,bins_lower_bound,allocation_bands,allocation_error_at_privacy,bins_noise_multiplier," +
		"bins_error_at_privacy")
	for _, r := range c.Rows {
		var bands, allocated, noise, reached any
		if r.Allocation != nil {
			bands, allocated = r.Allocation.Bands, r.Allocation.Error
		}
		if r.Bins != nil {
			noise, reached = r.Bins.NoiseMultiplier, r.Bins.Error
		}
		all := slices.Clone(r.Bands)
		if !slices.ContainsFunc(all, func(at plan.AtPrivacy) bool { return at.Bands == r.Best.Bands }) {
			all = append(all, *r.Best)
			slices.SortFunc(all, func(a, b plan.AtPrivacy) int { return a.Bands - b.Bands })
		}
		for _, at := range all {
			lines.Add(r.Epsilon, at.Delta, at.Bands, at.NoiseMultiplier, at.Error, r.Cyclic, at.Ratio,
				at.Bands == r.Best.Bands, r.PoissonLowerBound, r.BinsLowerBound, bands, allocated, noise, reached)
		}
	}
	return lines.Write(w)
}

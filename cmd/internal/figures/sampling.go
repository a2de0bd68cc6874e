package figures

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"

	"mafalda/benchmarks"
	"mafalda/internal/lists"
	"mafalda/internal/text"
	"mafalda/plan"
)

// Sampling shows the squared error at the same privacy, over ε, a colour a scheme: Poisson sampling with one band and with
// the best number at every ε (or of an export with its number), the best number with random allocation, and what random bins reach, with the lower bounds of
// Poisson sampling and bins in grey; all relative to the dense optimum for batches in turn.
func Sampling(c *plan.SamplingCurves) (*Figure, error) {
	p, epsilons := c.Problem, c.Levels.Epsilons
	curves := []Curve{{Name: "in turn, certified optimum", Method: "mafalda", X: epsilons,
		Y: slices.Repeat([]float64{1}, len(epsilons))}}
	for _, b := range c.Bands { // of an export there are its own, and no best ones
		curve := Curve{Name: fmt.Sprintf("Poisson, %d bands", b.Bandwidth), Method: "dp-d-sgd", X: epsilons, Y: ratios(b.At)}
		if b.Bandwidth == 1 {
			curve.Name, curve.Dashed = "Poisson, 1 band (DP-D-SGD)", c.Best != nil
		} else if c.Best != nil {
			continue
		}
		curves = append(curves, curve)
	}
	if c.Best != nil {
		curves = append(curves, Curve{Name: "Poisson, best number of bands", Method: "dp-d-sgd", X: epsilons, Y: ratios(c.Best)})
	}
	if c.Allocation != nil {
		curves = append(curves, Curve{Name: "allocation, best number of bands", X: epsilons, Y: ratios(c.Allocation)})
	}
	if c.Bins != nil {
		reached := Curve{Name: "bins, reached"}
		for _, b := range c.Bins {
			reached.X, reached.Y = append(reached.X, b.Epsilon), append(reached.Y, b.Ratio)
		}
		curves = append(curves, reached)
	}
	if c.Bounds != nil {
		poisson := Curve{Name: "bound for Poisson alone", X: epsilons, Dashed: true, Bound: true}
		bins := Curve{Name: "bound for bins alone", X: epsilons, Dotted: true, Bound: true}
		for i, b := range c.Bounds {
			poisson.Y, bins.Y = append(poisson.Y, b.Poisson/c.Cyclic[i]), append(bins.Y, b.Bins/c.Cyclic[i])
		}
		curves = append(curves, poisson, bins)
	}
	title := fmt.Sprintf("Secret batches at the same (ε, δ): %s, δ = %s", problemText(p), printed(c.Levels.Delta))
	return Lines(Axes{Title: title, X: "ε", Y: "squared error / error of the optimum for batches in turn", LogX: true,
		MaxY: 2}, curves)
}

func ratios(at []benchmarks.AtPrivacy) []float64 {
	return lists.Map(at, func(a benchmarks.AtPrivacy) float64 { return a.Ratio })
}

// WriteSampling writes a line of CSV for every ε and every number of bands in the picture, and for the best number, with
// all digits.
func WriteSampling(w io.Writer, c *plan.SamplingCurves) error {
	lines := [][]string{{"epsilon", "delta", "bands", "noise_multiplier", "error_at_privacy",
		"cyclic_error_at_privacy", "ratio", "best", "poisson_lower_bound", "bins_lower_bound",
		"allocation_bands", "allocation_error_at_privacy", "bins_noise_multiplier", "bins_error_at_privacy"}}
	for i, epsilon := range c.Levels.Epsilons {
		best, listed := c.Best[i], false
		var bands, allocated, noise, reached any
		if c.Allocation != nil {
			bands, allocated = c.Allocation[i].Bands, c.Allocation[i].Error
		}
		if b := c.BinsAt(epsilon); b != nil {
			noise, reached = b.NoiseMultiplier, b.Error
		}
		add := func(at benchmarks.AtPrivacy) {
			lines = append(lines, text.Cells(epsilon, at.Delta, at.Bands, at.NoiseMultiplier, at.Error, c.Cyclic[i], at.Ratio,
				at.Bands == best.Bands, c.Bounds[i].Poisson, c.Bounds[i].Bins, bands, allocated, noise, reached))
		}
		for _, b := range c.Bands {
			if !listed && b.Bandwidth >= best.Bands {
				listed = true
				if b.Bandwidth > best.Bands {
					add(best)
				}
			}
			add(b.At[i])
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}

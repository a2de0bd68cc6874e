package figures

import (
	"fmt"
	"math"

	"mafalda/plan"
)

// Sampling shows the squared error at the same privacy, over ε: a line a number of bands with Poisson sampling, and the
// least of them, all relative to the dense optimum for batches in turn.
func Sampling(c *plan.SamplingCurves) (*Figure, error) {
	least := Curve{Name: "the best of them", X: c.Epsilons, Y: make([]float64, len(c.Epsilons)), Dashed: true}
	for i := range least.Y {
		least.Y[i] = math.Inf(1)
	}
	var curves []Curve
	for _, b := range c.Bands {
		curve := Curve{Name: fmt.Sprintf("w = %d", b.Bandwidth), X: c.Epsilons}
		if b.Bandwidth == 1 {
			curve.Name = "w = 1 (DP-D-SGD)"
		}
		for i, e := range b.Errors {
			ratio := e / c.Cyclic[i]
			curve.Y = append(curve.Y, ratio)
			least.Y[i] = math.Min(least.Y[i], ratio)
		}
		curves = append(curves, curve)
	}
	return Lines(Axes{Title: fmt.Sprintf("Bands and Poisson sampling, delta = %g", c.Delta), X: "epsilon",
		Y: "squared error over that of the optimum for batches in turn", LogX: true, MaxY: 2}, append(curves, least))
}

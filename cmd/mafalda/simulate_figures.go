package main

import (
	"fmt"
	"math"
	"slices"

	"mafalda/internal/figures"
	"mafalda/simulate"
)

// lossFigure is the left of Figure 3 of Bellet et al.: mean test losses over the steps, with their standard errors. Diverged runs
// are left out; nil if nothing is left.
func (s *simulation) lossFigure(g *grid, mu float64) (*figures.Figure, error) {
	var curves []figures.Curve
	for _, v := range g.methods {
		c := lossCurve(g.name(v), inOrder(g.of(v, mu)))
		if len(c.X) == 0 {
			continue
		}
		curves = append(curves, c)
	}
	if len(curves) == 0 {
		return nil, nil
	}
	return lines(figures.Axes{Title: fmt.Sprintf("%s on %s, mu = %g: mean of %s ± standard error", s.config.Task.Name, s.network.Origin.Source, mu,
		g.seeds()), X: "step", Y: "test loss"}, curves)
}

// lines draws curves on a logarithmic axis, and beside them once more what is near the lowest, if not all of them are: the losses
// of the worst methods are thousands of times those of the best.
func lines(axes figures.Axes, curves []figures.Curve) (*figures.Figure, error) {
	const near = 4
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, c := range curves {
		lowest, highest = math.Min(lowest, slices.Min(c.Y)), math.Max(highest, slices.Max(c.Y))
	}
	axes.LogY = lowest > 0
	all, err := figures.Lines(axes, curves)
	if err != nil || !axes.LogY || highest <= near*near*lowest {
		return all, err
	}
	low := make([]figures.Curve, len(curves)) // in their colours
	for i, c := range curves {
		if slices.Min(c.Y) < near*lowest {
			low[i] = c
		}
	}
	axes.Title, axes.MaxY = fmt.Sprintf("up to %d times the lowest loss", near), near*lowest
	part, err := figures.Lines(axes, low)
	if err != nil {
		return nil, err
	}
	return all.Beside(part), nil
}

// lossCurve averages the losses of the runs that did not diverge, step by step.
func lossCurve(name string, runs []*simulate.Result) figures.Curve {
	c := figures.Curve{Name: name, Dashed: name == "none"}
	runs = slices.DeleteFunc(runs, func(r *simulate.Result) bool { return r.Diverged > 0 })
	if len(runs) == 0 {
		return c
	}
	n := float64(len(runs))
	for i, step := range runs[0].Steps {
		var sum, squares float64
		least := math.Inf(1)
		for _, r := range runs {
			sum += r.Losses[i]
			least = math.Min(least, r.Losses[i])
		}
		mean := sum / n
		for _, r := range runs {
			squares += (r.Losses[i] - mean) * (r.Losses[i] - mean)
		}
		half := 0.0
		if n > 1 {
			half = math.Sqrt(squares / (n - 1) / n)
		}
		c.X, c.Y = append(c.X, float64(step)), append(c.Y, mean)
		c.Low, c.High = append(c.Low, math.Max(mean-half, least)), append(c.High, mean+half)
	}
	return c
}

// privacyFigure is the right of Figure 3, and Figure 4: the loss in the last steps by epsilon. It is nil for fewer than two levels.
func (s *simulation) privacyFigure(g *grid, rows []simulatedRow) (*figures.Figure, error) {
	var epsilons []float64
	for _, r := range rows {
		if r.Epsilon != nil && *r.Epsilon > 0 && !slices.Contains(epsilons, *r.Epsilon) {
			epsilons = append(epsilons, *r.Epsilon)
		}
	}
	if len(epsilons) < 2 {
		return nil, nil
	}
	var curves []figures.Curve
	for _, v := range g.methods {
		c := figures.Curve{Name: g.name(v), Dashed: v.Method == "none"}
		for _, r := range rows {
			if r.Method != c.Name || r.Mean == nil || r.Epsilon != nil && *r.Epsilon == 0 {
				continue
			}
			half := 0.0
			if r.Std != nil {
				half = *r.Std / math.Sqrt(float64(r.Seeds-r.Diverged))
			}
			at := epsilons // of none
			if r.Epsilon != nil {
				at = []float64{*r.Epsilon}
			}
			for _, x := range at {
				c.X, c.Y = append(c.X, x), append(c.Y, *r.Mean)
				c.Low, c.High = append(c.Low, math.Max(*r.Mean-half, *r.Least)), append(c.High, *r.Mean+half)
			}
		}
		if len(c.X) == 0 {
			continue
		}
		curves = append(curves, c)
	}
	if len(curves) == 0 {
		return nil, nil
	}
	return lines(figures.Axes{Title: fmt.Sprintf("%s on %s: loss in the last %d steps, mean of %s ± standard error", s.config.Task.Name, s.network.Origin.Source,
		simulate.Window, g.seeds()), X: fmt.Sprintf("epsilon of local DP, for delta = %g", s.flags.delta), Y: "test loss", LogX: true,
		Marks: true}, curves)
}

package figures

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"mafalda/internal/lists"
	"mafalda/simulate"
)

// Losses is the left of Figure 3 of Bellet et al.: mean test losses over the steps at a level of privacy, with their
// standard errors. Diverged runs are left out; nil if nothing is left.
func Losses(s *simulate.Study, g *simulate.Grid, level float64) (*Figure, error) {
	var curves []Curve
	for _, v := range g.Methods {
		if c := lossCurve(g.Name(v), g.Runs(v, level)); len(c.X) > 0 {
			curves = append(curves, c)
		}
	}
	if len(curves) == 0 {
		return nil, nil
	}
	title := fmt.Sprintf("%s, %s: mean of %s%s", studyText(s), levelsOf(s).text(level), g.Count(), spread(curves))
	return linesWithLowest(Axes{Title: title, X: "step", Y: "test loss"}, curves)
}

// studyText says what is trained where, in how many steps, and who takes part.
func studyText(s *simulate.Study) string {
	of, schema := s.Config(), s.Config().Schema
	return of.Task.Name + " on " + schemaText(filepath.Base(s.Network().Origin.Source), schema.Steps(),
		schema.Participations(), schema.Separation())
}

// spread says what the bands of curves are, if there are any.
func spread(curves []Curve) string {
	if slices.ContainsFunc(curves, func(c Curve) bool { return c.Low != nil }) {
		return " ± standard error"
	}
	return ""
}

// linesWithLowest draws curves on a logarithmic axis, and below them once more the curves near the lowest, unless all
// are: the worst methods lose thousands of times as much as the best.
func linesWithLowest(axes Axes, curves []Curve) (*Figure, error) {
	const near = 4
	lowest, highest := extremes(curves)
	axes.LogY = lowest > 0
	if !axes.LogY || highest <= near*near*lowest || len(curves) < 2 {
		return Lines(axes, curves)
	}
	heading, below := axes.Title, axes
	axes.Title = "all"
	low := make([]Curve, len(curves)) // in their colours
	for i, c := range curves {
		low[i] = Curve{Name: c.Name, Method: c.Method}
		if slices.Min(c.Y) < near*lowest {
			low[i] = c
		}
	}
	below.Title, below.MaxY = fmt.Sprintf("up to %d times the lowest loss", near), near*lowest
	return stacked(heading, axes, curves, below, low)
}

// stacked draws curves in two plots below each other, under a heading. All have their colours in both.
func stacked(heading string, above Axes, curves []Curve, below Axes, others []Curve) (*Figure, error) {
	all, err := Lines(above, curves)
	if err != nil {
		return nil, err
	}
	part, err := Lines(below, others)
	if err != nil {
		return nil, err
	}
	first, second := all.panels[0], part.panels[0]
	first.title, second.title = above.Title, below.Title
	first.key, second.key = nil, first.key
	return &Figure{title: heading, panels: []*panel{first, second}}, nil
}

// addBand adds a point in a band that is a half of its width around it, down to the least value.
func (c *Curve) addBand(x, y, half, least float64) {
	c.X, c.Y = append(c.X, x), append(c.Y, y)
	c.Low, c.High = append(c.Low, math.Max(y-half, least)), append(c.High, y+half)
}

// lossCurve averages the losses of the runs that did not diverge, at the same distance of steps throughout: the last
// steps have more losses, and a line through all of them would look as if the noise grew. Of a single run there is no
// band.
func lossCurve(name string, runs []*simulate.Result) Curve {
	c := Curve{Name: name, Method: name, Dashed: name == simulate.None}
	runs = slices.DeleteFunc(runs, func(r *simulate.Result) bool { return r.Diverged > 0 })
	if len(runs) == 0 {
		return c
	}
	steps := runs[0].Steps
	for i, step := range steps {
		if step%steps[0] == 0 || i == len(steps)-1 {
			losses := lists.Map(runs, func(r *simulate.Result) float64 { return r.Losses[i] })
			mean, std := stat.MeanStdDev(losses, nil)
			c.addBand(float64(step), mean, stat.StdErr(std, float64(len(runs))), slices.Min(losses))
		}
	}
	if len(runs) == 1 {
		c.Low, c.High = nil, nil
	}
	return c
}

// PrivacyUtility is the right of Figure 3 of Bellet et al., and Figure 4: the loss in the last steps by ε. It is nil
// for fewer than two levels.
func PrivacyUtility(s *simulate.Study, g *simulate.Grid) (*Figure, error) {
	delta := s.Options().Delta
	rows, err := g.Rows(delta)
	if err != nil {
		return nil, err
	}
	var epsilons []float64
	for _, r := range rows {
		if r.Epsilon != nil && *r.Epsilon > 0 && !slices.Contains(epsilons, *r.Epsilon) {
			epsilons = append(epsilons, *r.Epsilon)
		}
	}
	if len(epsilons) < 2 {
		return nil, nil
	}
	var curves []Curve
	for _, v := range g.Methods {
		if c := utilityCurve(g.Name(v), rows, epsilons); len(c.X) > 0 {
			curves = append(curves, c)
		}
	}
	if len(curves) == 0 {
		return nil, nil
	}
	title := fmt.Sprintf("%s: loss in the last %d steps, mean of %s%s", studyText(s), s.Config().Window(), g.Count(),
		spread(curves))
	axes := Axes{Title: title, X: "ε of local DP, for δ = " + printed(delta), Y: "test loss", LogX: true, Marks: true}
	above, free := excessCurves(curves, rows)
	if above == nil {
		return linesWithLowest(axes, curves)
	}
	heading, below := axes.Title, axes
	lowest, _ := extremes(curves)
	axes.Title, axes.LogY = "with noise", lowest > 0
	below.Title, below.Y, below.LogY = "what the noise costs", "above the loss without noise, run by run", true
	if free != nil {
		below.Dots = true // a line would pass where a point is missing
		below.Title += " (nothing, and so not drawn: " + strings.Join(free, ", ") + ")"
	}
	return stacked(heading, axes, curves, below, above)
}

// extremes returns the lowest and the highest value of curves.
func extremes(curves []Curve) (lowest, highest float64) {
	lowest, highest = math.Inf(1), math.Inf(-1)
	for _, c := range curves {
		lowest, highest = math.Min(lowest, slices.Min(c.Y)), math.Max(highest, slices.Max(c.Y))
	}
	return lowest, highest
}

// excessCurves are, in the colours of the curves, how far losses are above those without noise; nil if these were not
// run, or hardly any is above. Where curves of losses coincide, these do not. The second result names the points that
// are not above, which a logarithmic axis cannot show.
func excessCurves(curves []Curve, rows []simulate.Row) (above []Curve, free []string) {
	above = make([]Curve, len(curves))
	drawn := 0
	for i, c := range curves {
		above[i] = Curve{Name: c.Name, Method: c.Method}
		for _, r := range rows {
			if r.Method != c.Name || r.Epsilon == nil || *r.Epsilon == 0 || r.Excess == nil {
				continue
			}
			if !(r.Excess.Difference > 0) {
				free = append(free, fmt.Sprintf("%s at ε = %s", c.Name, printed(*r.Epsilon)))
				continue
			}
			half := 0.0
			if r.Excess.StdErr != nil {
				half = *r.Excess.StdErr
			}
			above[i].addBand(*r.Epsilon, r.Excess.Difference, half, r.Excess.Difference/1e6) // far below the frame
		}
		if len(above[i].X) > 1 {
			drawn++
		}
	}
	if drawn == 0 {
		return nil, nil
	}
	return above, free
}

// utilityCurve is the losses of a method by ε, at all of them if it has no noise.
func utilityCurve(name string, rows []simulate.Row, epsilons []float64) Curve {
	c := Curve{Name: name, Method: name, Dashed: name == simulate.None}
	several := false
	for _, r := range rows {
		if r.Method != name || r.Mean == nil || r.Epsilon != nil && *r.Epsilon == 0 {
			continue
		}
		half := 0.0
		if r.Std != nil {
			half, several = *r.Std/math.Sqrt(float64(r.Seeds-r.Diverged)), true
		}
		at := epsilons // of none
		if r.Epsilon != nil {
			at = []float64{*r.Epsilon}
		}
		for _, x := range at {
			c.addBand(x, *r.Mean, half, *r.Least)
		}
	}
	if !several {
		c.Low, c.High = nil, nil
	}
	return c
}

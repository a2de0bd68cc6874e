package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"unicode/utf8"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/figures"
	"mafalda/internal/lists"
)

// Sizes of a chart, in its own units.
const (
	chartWidth, chartHeight = 640.0, 380.0
	left, right             = 70.0, 12.0
	top, bottom             = 10.0, 44.0
)

// axis is a scale with its place in the chart.
type axis struct {
	figures.Scale
	from, to float64
}

func newAxis(values []float64, log bool, from, to float64) axis {
	low, high := slices.Min(values), slices.Max(values)
	if log { // room for points at the edge
		low, high = low/1.12, high*1.12
	}
	return axis{figures.NewScale(low, high, log), from, to}
}

func (a axis) position(v float64) float64 { return a.from + a.Share(v)*(a.to-a.from) }

// draw draws a chart; false if there is nothing to draw. Values that an axis cannot have are left out. The points say
// their numbers, and the page has their colours.
func draw(c document.Chart) (Picture, bool) {
	var xs, ys []float64
	all := make([]document.Series, len(c.Series))
	for i, s := range c.Series {
		all[i] = s
		all[i].Points = nil
		for _, p := range s.Points {
			if p.X-p.X != 0 || p.Y-p.Y != 0 || c.LogX && p.X <= 0 || c.LogY && p.Y <= 0 {
				continue
			}
			all[i].Points = append(all[i].Points, p)
			xs, ys = append(xs, p.X), append(ys, p.Y)
		}
	}
	if len(xs) == 0 {
		return Picture{}, false
	}
	x := newAxis(xs, c.LogX, left, chartWidth-right)
	y := newAxis(ys, c.LogY, chartHeight-bottom, top)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %g %g" role="group" aria-label="%s">`, chartWidth, chartHeight,
		template.HTMLEscapeString(c.Caption))
	drawGrid(&b, c, x, y)
	legend := colour(all)
	for i, s := range all {
		drawSeries(&b, s, legend[i].Colour, x, y)
	}
	b.WriteString(`</svg>`)
	return Picture{Caption: c.Caption, SVG: template.HTML(b.String()), Legend: legend}, true
}

// colour returns the colours of series, as all pictures have them.
func colour(all []document.Series) []Mark {
	curves := lists.Map(all, func(s document.Series) figures.Curve {
		return figures.Curve{Name: s.Name, Method: s.Method, Bound: s.Bound}
	})
	var legend []Mark
	for i, at := range figures.Colours(curves) {
		if at %= 7; at == figures.BoundColour { // c0 to c6 of the page; c7 is grey
			at = 7
		}
		legend = append(legend, Mark{all[i].Name, at, all[i].Dash})
	}
	return legend
}

func drawGrid(b *strings.Builder, c document.Chart, x, y axis) {
	for _, t := range x.Ticks {
		at := x.position(t.Value)
		fmt.Fprintf(b, `<path class="grid" d="M%.1f,%gV%g"/><text class="tick" text-anchor="middle" x="%.1f" y="%g">%s</text>`,
			at, top, chartHeight-bottom, at, chartHeight-bottom+15, t.Label)
	}
	for _, t := range y.Ticks {
		at := y.position(t.Value)
		fmt.Fprintf(b, `<path class="grid" d="M%g,%.1fH%g"/><text class="tick" text-anchor="end" x="%g" y="%.1f">%s</text>`,
			left, at, chartWidth-right, left-6, at+4, t.Label)
	}
	middle := (top + chartHeight - bottom) / 2
	fmt.Fprintf(b, `<text class="axis" text-anchor="middle" x="%g" y="%g">%s</text>`, (left+chartWidth-right)/2,
		chartHeight-8, template.HTMLEscapeString(c.X))
	fmt.Fprintf(b, `<text class="axis" text-anchor="middle" transform="translate(14,%g) rotate(-90)">%s</text>`, middle,
		template.HTMLEscapeString(c.Y))
}

// drawSeries draws line and points.
func drawSeries(b *strings.Builder, s document.Series, colour int, x, y axis) {
	if !s.Dots && len(s.Points) > 1 {
		fmt.Fprintf(b, `<path class="%s" d="`, strings.TrimSpace(fmt.Sprintf("line c%d %s", colour, s.Dash)))
		for i, p := range s.Points {
			fmt.Fprintf(b, "%c%.1f,%.1f", "ML"[min(i, 1)], x.position(p.X), y.position(p.Y))
		}
		b.WriteString(`"/>`)
	}
	for _, p := range s.Points {
		says := template.HTMLEscapeString(p.Says)
		fmt.Fprintf(b, `<circle class="point c%d" cx="%.1f" cy="%.1f" r="4.5" tabindex="0" role="img" aria-label="%s" `+
			`data-says="%s"/>`, colour, x.position(p.X), y.position(p.Y), says, says)
		if p.Label != "" {
			side, anchor := 8.0, "start"
			if x.position(p.X)+8+7*float64(utf8.RuneCountInString(p.Label)) > chartWidth {
				side, anchor = -8, "end"
			}
			fmt.Fprintf(b, `<text class="tick" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`, anchor, x.position(p.X)+side,
				y.position(p.Y)+4, template.HTMLEscapeString(p.Label))
		}
	}
}

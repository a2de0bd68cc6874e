package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"unicode/utf8"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/figures"
)

const colours = 7 // of the page, c0 to c6

// Sizes of a chart, in its own units.
const (
	chartWidth, chartHeight = 640.0, 380.0
	left, right             = 70.0, 12.0
	top, bottom             = 10.0, 44.0
)

// axis maps values to places.
type axis struct {
	low, high float64
	log       bool
	from, to  float64
}

func newAxis(values []float64, log bool, from, to float64) axis {
	a := axis{math.Inf(1), math.Inf(-1), log, from, to}
	for _, v := range values {
		a.low, a.high = math.Min(a.low, v), math.Max(a.high, v)
	}
	switch {
	case log:
		a.low, a.high = a.low/1.12, a.high*1.12
	default:
		a.low, a.high = math.Min(a.low, 0), math.Max(a.high, 0)
		if a.low == a.high {
			a.high = 1
		}
		a.high += 0.05 * (a.high - a.low)
	}
	return a
}

func (a axis) position(v float64) float64 {
	share := (v - a.low) / (a.high - a.low)
	if a.log {
		share = math.Log(v/a.low) / math.Log(a.high/a.low)
	}
	return a.from + share*(a.to-a.from)
}

// ticks are at 1, 2 and 5 times powers of ten, or at powers alone if there would be too many; at equal distances where
// that is fewer than two.
func (a axis) ticks() []float64 {
	var all []float64
	if a.log {
		factors := []float64{1, 2, 5}
		if a.high/a.low > 3000 {
			factors = factors[:1]
		}
		for e := math.Floor(math.Log10(a.low)); e <= math.Log10(a.high); e++ {
			for _, f := range factors {
				if v := f * math.Pow(10, e); v >= a.low && v <= a.high {
					all = append(all, v)
				}
			}
		}
		if len(all) > 1 {
			return all
		}
		all = nil
	}
	rough := (a.high - a.low) / 5
	unit := math.Pow(10, math.Floor(math.Log10(rough)))
	step := unit
	for _, f := range []float64{2, 5, 10} {
		if step < rough {
			step = f * unit
		}
	}
	for i := math.Ceil(a.low / step); i*step <= a.high; i++ {
		all = append(all, i*step)
	}
	return all
}

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

// colour returns the methods' colours, and for other series what is left.
func colour(all []document.Series) []Mark {
	taken := map[int]bool{}
	var legend []Mark
	for _, s := range all {
		at, known := figures.MethodColour(s.Method)
		if !known {
			at = -1
		}
		taken[at] = true
		legend = append(legend, Mark{s.Name, at})
	}
	next := 0
	for i := range legend {
		if legend[i].Colour >= 0 {
			continue
		}
		for len(taken) <= colours && taken[next%colours] {
			next++
		}
		legend[i].Colour = next % colours
		next++
	}
	return legend
}

func drawGrid(b *strings.Builder, c document.Chart, x, y axis) {
	for _, v := range x.ticks() {
		fmt.Fprintf(b, `<path class="grid" d="M%.1f,%gV%g"/>`+
			`<text class="tick" text-anchor="middle" x="%.1f" y="%g">%s</text>`,
			x.position(v), top, chartHeight-bottom, x.position(v), chartHeight-bottom+15, textNearest(v))
	}
	for _, v := range y.ticks() {
		fmt.Fprintf(b, `<path class="grid" d="M%g,%.1fH%g"/>`+
			`<text class="tick" text-anchor="end" x="%g" y="%.1f">%s</text>`,
			left, y.position(v), chartWidth-right, left-6, y.position(v)+4, textNearest(v))
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
		fmt.Fprintf(b, `<path class="line c%d" d="`, colour)
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

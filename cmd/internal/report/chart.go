package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"unicode/utf8"

	"mafalda/cmd/internal/figures"
)

// chart is a plot whose points say their numbers, in the colours of the page.
type chart struct {
	caption, x, y string
	logX, logY    bool
	series        []series
}

type series struct {
	name   string
	points []point
	dots   bool   // no line between them
	method string // if it has a colour in all pictures
}

type point struct {
	x, y  float64
	says  string
	label string // beside it
}

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

// picture draws the chart; false if there is nothing to draw. Values that an axis cannot have are left out.
func (c chart) picture() (Picture, bool) {
	var xs, ys []float64
	for i, s := range c.series {
		c.series[i].points = nil
		for _, p := range s.points {
			if p.x-p.x != 0 || p.y-p.y != 0 || c.logX && p.x <= 0 || c.logY && p.y <= 0 {
				continue
			}
			c.series[i].points = append(c.series[i].points, p)
			xs, ys = append(xs, p.x), append(ys, p.y)
		}
	}
	if len(xs) == 0 {
		return Picture{}, false
	}
	x := newAxis(xs, c.logX, left, chartWidth-right)
	y := newAxis(ys, c.logY, chartHeight-bottom, top)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %g %g" role="group" aria-label="%s">`, chartWidth, chartHeight,
		template.HTMLEscapeString(c.caption))
	c.grid(&b, x, y)
	legend := c.colours()
	for i, s := range c.series {
		s.draw(&b, legend[i].Colour, x, y)
	}
	b.WriteString(`</svg>`)
	return Picture{Caption: c.caption, SVG: template.HTML(b.String()), Legend: legend}, true
}

// colours returns the methods' colours, and for other series what is left.
func (c chart) colours() []Mark {
	taken := map[int]bool{}
	var legend []Mark
	for _, s := range c.series {
		at, known := figures.MethodColour(s.method)
		if !known {
			at = -1
		}
		taken[at] = true
		legend = append(legend, Mark{s.name, at})
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

func (c chart) grid(b *strings.Builder, x, y axis) {
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
		chartHeight-8, template.HTMLEscapeString(c.x))
	fmt.Fprintf(b, `<text class="axis" text-anchor="middle" transform="translate(14,%g) rotate(-90)">%s</text>`, middle,
		template.HTMLEscapeString(c.y))
}

// draw draws line and points.
func (s series) draw(b *strings.Builder, colour int, x, y axis) {
	if !s.dots && len(s.points) > 1 {
		fmt.Fprintf(b, `<path class="line c%d" d="`, colour)
		for i, p := range s.points {
			fmt.Fprintf(b, "%c%.1f,%.1f", "ML"[min(i, 1)], x.position(p.x), y.position(p.y))
		}
		b.WriteString(`"/>`)
	}
	for _, p := range s.points {
		says := template.HTMLEscapeString(p.says)
		fmt.Fprintf(b, `<circle class="point c%d" cx="%.1f" cy="%.1f" r="4.5" tabindex="0" role="img" aria-label="%s" `+
			`data-says="%s"/>`, colour, x.position(p.x), y.position(p.y), says, says)
		if p.label != "" {
			side, anchor := 8.0, "start"
			if x.position(p.x)+8+7*float64(utf8.RuneCountInString(p.label)) > chartWidth {
				side, anchor = -8, "end"
			}
			fmt.Fprintf(b, `<text class="tick" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`, anchor, x.position(p.x)+side,
				y.position(p.y)+4, template.HTMLEscapeString(p.label))
		}
	}
}

package figures

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mafalda/internal/lists"
	"mafalda/internal/rounding"
)

// Curve is a named line through (X[i], Y[i]), with a band from Low[i] to High[i] if they are there.
type Curve struct {
	Name   string    `json:"name"`
	Method string    `json:"-"` // if not empty, it has the same colour in every picture
	Like   string    `json:"-"` // otherwise: the name of a curve before it, whose colour it has
	X      []float64 `json:"x"`
	Y      []float64 `json:"y"`
	Low    []float64 `json:"low,omitempty"`
	High   []float64 `json:"high,omitempty"`
	Says   []string  `json:"-"`                // words of the points; nil: name, place and value, rounded up, or of a bound down
	Labels []string  `json:"labels,omitempty"` // beside the points
	Dashed bool      `json:"dashed,omitempty"`
	Bound  bool      `json:"-"` // what no curve of its scheme goes beyond: grey
	Dotted bool      `json:"dotted,omitempty"`
}

// add adds a point, if an axis can show it.
func (c *Curve) add(x, y float64) {
	if y > 0 && !math.IsInf(y, 1) {
		c.X, c.Y = append(c.X, x), append(c.Y, y)
	}
}

// Axes says what Lines draws on.
type Axes struct {
	Title string   `json:"title"`
	X     string   `json:"x"`
	Y     string   `json:"y"`
	LogX  bool     `json:"log_x"` // values must be positive
	LogY  bool     `json:"log_y"`
	Dots  bool     `json:"dots"`            // mark the points, without a line between them
	Marks bool     `json:"marks"`           // mark the points on the line
	MaxY  float64  `json:"max_y,omitempty"` // 0: the highest curve or band; what is above is cut off
	Rows  []string `json:"rows,omitempty"`  // names of 0, 1, … on the vertical axis
}

// Lines draws curves in one plot; nil if none has a point. A curve without points is left out, and leaves its colour
// unused.
func Lines(axes Axes, curves []Curve) (*Figure, error) {
	p := panel{Plot: plot.New(), shown: &shown{Axes: axes}}
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = axes.Title, axes.X, axes.Y
	p.Title.Padding = vg.Points(8)
	p.Add(plotter.NewGrid())
	var xs, ys []float64 // that have to fit
	var names []string
	for i, colour := range coloursOf(curves) {
		c := curves[i]
		if len(c.X) == 0 && len(c.Y) == 0 {
			continue
		}
		if err := c.check(axes); err != nil {
			return nil, err
		}
		xs, ys, names = append(xs, c.X...), append(ys, c.Y...), append(names, c.Name)
		ys = append(ys, c.High...)
		for k, low := range c.Low {
			if !axes.LogY || low > c.Y[k]/10 { // others go on below the frame
				ys = append(ys, low)
			}
		}
		d := c.drawn(axes, colour)
		p.Add(d)
		p.Legend.Add(c.Name, d)
		p.shown.show(c, colourAt(colour))
	}
	if xs == nil {
		return nil, nil
	}
	low, high := slices.Min(ys), slices.Max(ys)
	if axes.MaxY > 0 {
		high = math.Min(high, axes.MaxY)
	}
	if high < low || low == axes.MaxY && low > 0 {
		return nil, fmt.Errorf("all values are above %v", axes.MaxY)
	}
	axes.scaleX(&p.X, xs)
	height := 5 * vg.Inch
	if axes.Rows != nil {
		p.NominalY(axes.Rows...)
		p.Y.Min, p.Y.Max = -0.6, float64(len(axes.Rows))-0.4
		height = vg.Points(float64(90 + 26*max(len(axes.Rows), len(names))))
	} else {
		scaleY(&p.Y, low, high, axes.LogY)
	}
	if axes.LogX {
		p.below, p.X.Label.Text = axes.X, ""
	}
	if axes.LogY {
		p.side, p.Y.Label.Text = axes.Y, ""
	}
	f := single(p, 8*vg.Inch, height)
	if len(curves) > 1 || axes.Rows != nil {
		f.legendBeside(names)
	} else {
		p.Legend = plot.NewLegend()
	}
	return f, nil
}

// stackAbove puts the plot of another figure, which has the same curves, below the plot of f, beside the same legend:
// next to each other they could not be read at the width of a page.
func (f *Figure) stackAbove(other *Figure) {
	f.columns[0].plots = append(f.columns[0].plots, other.columns[0].plots...)
	f.height *= 1.6
}

// legendBeside moves the legend of a figure of one plot out of it, to the right, where it hides no data.
func (f *Figure) legendBeside(names []string) {
	p, legend := f.columns[0].plots[0], bare("")
	legend.Legend, p.Legend = p.Legend, legend.Legend
	l := &legend.Legend
	l.Top, l.Left, l.XOffs, l.YOffs, l.Padding = true, true, 0, -vg.Points(30), vg.Points(4)
	widths := lists.Map(names, l.TextStyle.Width)
	width := slices.Max(widths) + l.ThumbnailWidth + vg.Points(40)
	f.columns = append(f.columns, column{[]panel{{Plot: legend}}, float64(width)})
	f.width += width
}

// check returns an error unless all values can be drawn.
func (c Curve) check(axes Axes) error {
	for _, values := range [][]float64{c.Y, c.Low, c.High} {
		if values == nil && c.High == nil && c.Low == nil {
			continue
		}
		if len(c.X) != len(values) {
			return fmt.Errorf("%d values at %d places", len(values), len(c.X))
		}
		for i, y := range values {
			if x := c.X[i]; x-x != 0 || y-y != 0 || axes.LogX && x <= 0 || axes.LogY && y <= 0 {
				return fmt.Errorf("value %v at %v of %s cannot be drawn", y, x, c.Name)
			}
		}
	}
	return nil
}

// drawnCurve draws a curve, and shows in a legend what it looks like.
type drawnCurve struct {
	Curve
	line  draw.LineStyle // without a colour: there is none
	glyph draw.GlyphStyle
	shade color.Color
}

func (c Curve) drawn(axes Axes, index int) drawnCurve {
	colour := colourAt(index)
	d := drawnCurve{Curve: c, glyph: draw.GlyphStyle{Color: colour, Shape: shapes[max(index, 0)%len(shapes)]}}
	switch {
	case axes.Rows != nil:
		d.glyph.Radius = vg.Points(3.5)
	case axes.Dots || axes.Marks || len(c.X) == 1: // a line through one point cannot be seen
		d.glyph.Radius = vg.Points(2)
	}
	if !axes.Dots {
		d.line = draw.LineStyle{Color: colour, Width: vg.Points(1.5)}
	}
	switch {
	case c.Dashed:
		d.line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
	case c.Dotted:
		d.line.Dashes = []vg.Length{vg.Points(1.5), vg.Points(2)}
	}
	r, g, b, _ := colour.RGBA()
	d.shade = color.NRGBA64{uint16(r), uint16(g), uint16(b), 40 * 0x101}
	const most = 40 // points whose words are worth their place
	if c.Says == nil && len(c.X) <= most {
		text := rounding.UpText
		if c.Bound {
			text = rounding.DownText
		}
		for i, x := range c.X {
			if axes.Rows != nil {
				d.Says = append(d.Says, fmt.Sprintf("%s, %s: %s", axes.Rows[int(c.Y[i])], c.Name, text(x, 4)))
			} else {
				d.Says = append(d.Says, fmt.Sprintf("%s, %s %s: %s", c.Name, axes.X, text(x, 6), text(c.Y[i], 4)))
			}
		}
	}
	return d
}

// Plot draws the band, the line and the points, and makes the points say their words where a canvas can.
func (d drawnCurve) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	place := func(values []float64) (at []vg.Point) {
		for i, y := range values {
			at = append(at, vg.Point{X: toX(d.X[i]), Y: toY(y)})
		}
		return at
	}
	if d.Low != nil {
		lower := place(d.Low)
		slices.Reverse(lower)
		c.FillPolygon(d.shade, c.ClipPolygonXY(append(place(d.High), lower...)))
	}
	points := place(d.Y)
	if d.line.Color != nil {
		c.StrokeLines(d.line, c.ClipLinesXY(points)...)
	}
	var labelled []vg.Point
	svg := svgUnder(c)
	for i, at := range points {
		if !c.Contains(at) {
			continue
		}
		if d.glyph.Radius > 0 {
			c.DrawGlyph(d.glyph, at)
		}
		near := func(p vg.Point) bool { return math.Abs(float64(p.X-at.X)) < 70 && math.Abs(float64(p.Y-at.Y)) < 10 }
		if d.Labels != nil && !slices.ContainsFunc(labelled, near) {
			labelled = append(labelled, at)
			style := p.Legend.TextStyle
			style.YAlign = draw.YCenter
			c.FillText(style, at.Add(vg.Point{X: vg.Points(6)}), d.Labels[i])
		}
		if svg != nil && d.Says != nil {
			svg.say(at, d.Says[i])
		}
	}
}

// Thumbnail draws what a legend shows.
func (d drawnCurve) Thumbnail(c *draw.Canvas) {
	middle := c.Center()
	if d.line.Color != nil {
		c.StrokeLine2(d.line, c.Min.X, middle.Y, c.Max.X, middle.Y)
	}
	if d.glyph.Radius > 0 {
		c.DrawGlyph(d.glyph, middle)
	}
}

// scaleX sets range and ticks of the horizontal axis: at the places of values where these are few. One value alone is in the middle.
func (a Axes) scaleX(axis *plot.Axis, xs []float64) {
	first, last := slices.Min(xs), slices.Max(xs)
	if a.LogX {
		if a.Rows != nil {
			first, last = first/1.05, last*1.1
		} else if last/first < 1.0001 {
			first, last = first/2, 2*last
		}
		first, last = math.Max(first, math.SmallestNonzeroFloat64), math.Min(last, math.MaxFloat64)
		axis.Scale = plot.LogScale{}
	} else if first == last {
		room := math.Max(1, math.Abs(first)/2)
		first, last = first-room, last+room
	}
	axis.Min, axis.Max = first, last
	axis.Tick.Marker = ticks(first, last, a.LogX)
	if measured := placesOf(xs, func(x float64) float64 { return axis.Norm(x) }); a.Marks && len(measured) > 1 {
		axis.Tick.Marker = measured
	}
}

// placesOf are ticks at values, if there are few, and none so near to the next that their labels would meet.
func placesOf(xs []float64, share func(float64) float64) (all plot.ConstantTicks) {
	const nearest = 0.06
	xs = slices.Compact(slices.Sorted(slices.Values(xs)))
	for i, x := range xs {
		if i > 0 && share(x)-share(xs[i-1]) < nearest {
			return nil
		}
		all = append(all, plot.Tick{Value: x, Label: fmt.Sprintf("%.6g", x)})
	}
	return all
}

// scaleY sets range and ticks of the vertical axis, with some room above, and from zero if it is not logarithmic.
func scaleY(axis *plot.Axis, low, high float64, log bool) {
	const room = 0.05 // above the highest value
	if log {
		space := math.Pow(math.Max(high/low, 1.5), room)
		low = math.Max(low/math.Min(space, 1.2), math.SmallestNonzeroFloat64)
		high = math.Min(high*space, math.MaxFloat64)
		axis.Scale = plot.LogScale{}
	} else {
		low, high = math.Min(low, 0), math.Max(high, 0)
		high = cmp.Or(high+room*(high-low), 1)
	}
	axis.Min, axis.Max = low, high
	axis.Tick.Marker = ticks(low, high, log)
}

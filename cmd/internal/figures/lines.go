package figures

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

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
	Says   []string  `json:"-"`                // words of the points; nil: name, place and value, rounded up, or of a lower bound down
	Labels []string  `json:"labels,omitempty"` // labels beside the points
	Dashed bool      `json:"dashed,omitempty"`
	Bound  bool      `json:"-"` // no curve of its scheme goes beyond it: grey
	Lower  bool      `json:"-"` // it is a lower bound: its numbers are rounded down
	Dotted bool      `json:"dotted,omitempty"`
	Stairs bool      `json:"stairs,omitempty"` // the curve has the value of the next point between two
	Colour string    `json:"colour"`           // colour in which it is drawn
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
	Zero  float64  `json:"zero,omitempty"`  // the value that stands for 0 on a logarithmic horizontal axis
}

// Lines draws curves in one plot; nil if none has a point. A curve without points is left out, and leaves its colour
// unused.
func Lines(axes Axes, curves []Curve) (*Figure, error) {
	l := &panel{tall: 0.62, shown: &shown{Axes: axes}, x: axis{label: axes.X}, y: axis{label: axes.Y}}
	var xs, ys []float64 // that have to fit
	var drawn []drawnCurve
	for i, colour := range coloursOf(curves) {
		c := curves[i]
		if len(c.X) == 0 && len(c.Y) == 0 {
			continue
		}
		if err := c.check(axes); err != nil {
			return nil, err
		}
		xs, ys = append(xs, c.X...), append(ys, c.Y...)
		ys = append(ys, c.High...)
		for k, low := range c.Low {
			if !axes.LogY || low > c.Y[k]/10 { // others go on below the frame
				ys = append(ys, low)
			}
		}
		d := c.drawn(axes, colour)
		for _, before := range drawn { // of one colour, markers tell curves apart
			if c.Like == "" && before.colour == d.colour {
				d.marker = markers[(slices.Index(markers, before.marker)+1)%len(markers)]
			}
		}
		drawn = append(drawn, d)
		l.shown.Curves = append(l.shown.Curves, d.Curve)
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
	axes.scaleX(&l.x, xs)
	if axes.Rows != nil {
		l.y.names = axes.Rows
		l.y.low, l.y.high = -0.6, float64(len(axes.Rows))-0.4
	} else {
		l.y.scale(low, high, axes.LogY)
	}
	for i, d := range drawn {
		times, most := 1.0, 4.0 // where others have the same points, so that all are seen
		if d.radius == 0 {
			most = 2 // a line without markers hides what is beside it
		}
		for _, above := range drawn[i+1:] {
			if above.hides(d, l) {
				times = min(2*times, most)
			}
		}
		d.line, d.radius = times*d.line, math.Sqrt(times)*d.radius
		drawn[i] = d
		if len(curves) > 1 || axes.Rows != nil {
			l.key = append(l.key, entry{d.Name, d.sample})
		}
	}
	l.paint = func(p *page, f frame) {
		before := len(p.shapes)
		for _, d := range drawn {
			d.draw(p, f)
		}
		taken := slices.Clone(p.shapes[before:])
		for _, d := range drawn {
			for i, label := range d.Labels {
				taken = p.labelPoint(f, f.at(d.X[i], d.Y[i]), label, taken, before)
			}
		}
	}
	return &Figure{title: axes.Title, panels: []*panel{l}}, nil
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

// drawnCurve draws a curve, and shows in a legend what it looks like. Sizes are relative to the letters.
type drawnCurve struct {
	Curve
	colour color.NRGBA
	line   float64   // width of the line; 0: no line
	dashes []float64 // lengths of dashes and gaps, in widths
	marker marker
	radius float64 // radius of the markers; 0: no markers
}

// marker is a regular polygon.
type marker struct {
	corners int
	turn    float64
}

var markers = []marker{{24, 0}, {4, math.Pi / 4}, {3, -math.Pi / 2}, {3, math.Pi / 2}, {4, 0}, {3, 0}, {3, math.Pi}}

func (c Curve) drawn(axes Axes, index int) drawnCurve {
	d := drawnCurve{Curve: c, colour: colourAt(index), marker: markers[max(index, 0)%len(markers)]}
	d.Colour = hex(d.colour)
	switch {
	case axes.Rows != nil:
		d.radius = 0.32
	case axes.Dots || axes.Marks || len(c.X) == 1: // a line through one point cannot be seen
		d.radius = 0.22
	}
	if !axes.Dots {
		d.line = 0.125
	}
	switch {
	case c.Dashed && c.Dotted:
		d.dashes = []float64{3.5, 1.4, 1, 1.4}
	case c.Dashed:
		d.dashes = []float64{3.5, 2}
	case c.Dotted:
		d.dashes = []float64{1, 1.4}
	}
	const most = 40 // points whose words are worth their place
	if c.Says == nil && len(c.X) <= most {
		text := rounding.UpText
		if c.Lower {
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

// draw draws the band, the line and the points of a curve. The text of a point, in Says, is a tooltip in SVG, and nowhere else.
func (d drawnCurve) draw(p *page, f frame) {
	place := func(values []float64) (at []Point) {
		for i, y := range values {
			at = append(at, f.at(d.X[i], y))
		}
		return at
	}
	if d.Low != nil {
		lower := place(d.Low)
		slices.Reverse(lower)
		band := f.crossed(append(place(d.High), lower...))
		for i := range band {
			band[i].Y = math.Max(f.top, math.Min(f.bottom, band[i].Y))
		}
		shade := d.colour
		shade.A = 40
		p.area(shade, band...)
	}
	points := place(d.Y)
	inside := func(at Point) bool { return at.Y >= f.top-1e-6 && at.Y <= f.bottom+1e-6 }
	var line, part []Point
	for i, at := range points {
		if d.Stairs && i > 0 {
			line = append(line, Point{points[i-1].X, at.Y})
		}
		line = append(line, at)
	}
	for _, at := range append(f.crossed(line), Point{Y: math.Inf(1)}) {
		if inside(at) {
			part = append(part, at)
			continue
		}
		if len(part) > 1 {
			d.stroke(p, part)
		}
		part = nil
	}
	for i, at := range points {
		if !inside(at) {
			continue
		}
		d.mark(p, at)
		if d.Says != nil {
			p.shapes = append(p.shapes, shape{points: []Point{at}, says: d.Says[i]})
		}
	}
}

// hides reports whether the curve has the points of another.
func (d drawnCurve) hides(other drawnCurve, l *panel) bool {
	const near = 0.005
	for i, x := range other.X {
		if len(d.X) != len(other.X) || math.Abs(l.x.share(d.X[i])-l.x.share(x)) > near ||
			math.Abs(l.y.share(d.Y[i])-l.y.share(other.Y[i])) > near {
			return false
		}
	}
	return true
}

// stroke draws a line.
func (d drawnCurve) stroke(p *page, points []Point) {
	if d.line > 0 {
		dashes := slices.Clone(d.dashes)
		for i := range dashes {
			dashes[i] *= d.line * p.em
		}
		p.line(d.colour, d.line*p.em, dashes, points...)
	}
}

// mark draws a marker.
func (d drawnCurve) mark(p *page, at Point) {
	if d.radius > 0 {
		size := 1 + 1/float64(d.marker.corners) // of the same area, nearly
		p.area(d.colour, polygon(at, size*d.radius*p.em, d.marker.corners, d.marker.turn)...)
	}
}

// sample draws what a legend shows.
func (d drawnCurve) sample(p *page, from, to Point) {
	d.stroke(p, []Point{from, to})
	d.mark(p, Point{(from.X + to.X) / 2, from.Y})
}

// labelPoint writes a label beside a point, where it meets nothing, or farther away with a line to it, if there is such
// a place, and returns all that others may not meet. Lines go below all shapes from that index on.
func (p *page) labelPoint(f frame, at Point, label string, others []shape, below int) []shape {
	const tall = 0.8 // letters, relative to their size
	small := smaller * p.em
	wide, near := width(label, small), 0.2*small
	ways := []Point{{1, 0}, {-1, 0}, {1, -0.7}, {1, 0.7}, {-1, -0.7}, {-1, 0.7}, {0, -1}, {0, 1}}
	for ring := range 16 {
		away := 1 + 0.6*float64(ring)
		for _, way := range ways {
			left, top := at.X+way.X*(small*(2*away-1)+wide)/2-wide/2, at.Y+1.1*small*way.Y*away-tall/2*small
			right, bottom := left+wide, top+tall*small
			meets := func(s shape) bool { return s.meets(left, top, right, bottom, near) }
			if left < f.left || right > f.right || top < f.top || bottom > f.bottom ||
				slices.ContainsFunc(others, meets) {
				continue
			}
			if ring > 0 {
				end := Point{max(left, min(right, at.X)), max(top, min(bottom, at.Y))}
				line := shape{points: []Point{at, end}, width: 0.05 * p.em, colour: black}
				p.shapes, others = slices.Insert(p.shapes, below, line), append(others, line)
			}
			p.rect(paper, left, top, right, bottom)
			others = append(others, p.shapes[len(p.shapes)-1])
			align := math.Round(1-way.X) / 2 // a letter wider than thought goes away from the point; formats know three places
			p.write(Point{left + align*wide, bottom - 0.08*small}, align, small, label)
			return others
		}
		ways, near = polygon(Point{}, 1, 24, 0), 0.4*small // what a line leads to is beside no other point
	}
	return others
}

// crossed adds the points where a line crosses the top or the bottom of the frame.
func (f frame) crossed(points []Point) (all []Point) {
	for i, b := range points {
		edges := []float64{f.top, f.bottom}
		a := points[max(i-1, 0)]
		if b.Y < a.Y {
			slices.Reverse(edges)
		}
		for _, edge := range edges {
			if (a.Y-edge)*(b.Y-edge) < 0 {
				all = append(all, Point{a.X + (b.X-a.X)*(edge-a.Y)/(b.Y-a.Y), edge})
			}
		}
		all = append(all, b)
	}
	return all
}

// scaleX sets the range of the horizontal axis. One value alone is in the middle.
func (a Axes) scaleX(x *axis, xs []float64) {
	first, last := slices.Min(xs), slices.Max(xs)
	if a.LogX {
		if a.Rows != nil {
			room := math.Max(math.Pow(last/first, 0.04), 1.07)
			first, last = first/room, last*room
		} else if last/first < 1.0001 {
			first, last = first/2, 2*last
		}
		first, last = math.Max(first, math.SmallestNonzeroFloat64), math.Min(last, math.MaxFloat64)
	} else if first == last {
		room := math.Max(1, math.Abs(first)/2)
		first, last = first-room, last+room
	}
	x.low, x.high, x.log, x.zero = first, last, a.LogX, a.Zero
	x.whole = !slices.ContainsFunc(xs, func(v float64) bool { return v != math.Trunc(v) })
	if a.Rows == nil {
		x.measured = xs
	}
}

// scale sets the range of a vertical axis, with some room above, and from zero if it is not logarithmic.
func (y *axis) scale(low, high float64, log bool) {
	const room = 0.05 // above the highest value
	if log {
		space := math.Pow(math.Max(high/low, 1.5), room)
		low = math.Max(low/math.Min(space, 1.2), math.SmallestNonzeroFloat64)
		high = math.Min(high*space, math.MaxFloat64)
		if high/low > 2 && high/low < 20 { // down to a round number, as ticks are few
			unit := math.Pow(10, math.Floor(math.Log10(low)))
			for _, digit := range []float64{1, 2, 5} {
				if digit*unit <= low {
					y.low = digit * unit
				}
			}
			low = cmp.Or(y.low, low)
		}
	} else {
		low, high = math.Min(low, 0), math.Max(high, 0)
		high = cmp.Or(high+room*(high-low), 1)
	}
	y.low, y.high, y.log = low, high, log
}

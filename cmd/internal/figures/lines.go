package figures

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Curve is a named line through (X[i], Y[i]), with a band from Low[i] to High[i] if they are there.
type Curve struct {
	Name      string
	Method    string // if not empty, it has the same colour in every picture
	Like      string // otherwise: the name of a curve before it, whose colour it has
	X, Y      []float64
	Low, High []float64
	Dashed    bool
	Bound     bool // what no curve of its scheme goes beyond: grey
	Dotted    bool
}

// Axes says what Lines draws on.
type Axes struct {
	Title, X, Y string
	LogX, LogY  bool    // values must be positive
	Dots        bool    // mark the points, without a line between them
	Marks       bool    // mark the points on the line
	MaxY        float64 // 0: the highest curve or band; what is above is cut off
}

// Lines draws curves in one plot; nil if none has a point. A curve without points is left out, and leaves its colour
// unused.
func Lines(axes Axes, curves []Curve) (*Figure, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = axes.Title, axes.X, axes.Y
	p.Title.Padding = vg.Points(8)
	p.Add(plotter.NewGrid())
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(roundTicks), plot.TickerFunc(roundTicks)
	first, last := math.Inf(1), math.Inf(-1)
	low, high := math.Inf(1), math.Inf(-1)
	var names []string
	colour := Colours(curves)
	for i, c := range curves {
		if len(c.X) == 0 && len(c.Y) == 0 {
			continue
		}
		names = append(names, c.Name)
		points, err := c.points(axes, c.Y)
		if err != nil {
			return nil, err
		}
		for _, v := range points {
			first, last = math.Min(first, v.X), math.Max(last, v.X)
			low, high = math.Min(low, v.Y), math.Max(high, axes.clampY(v.Y))
		}
		if c.Low != nil {
			b, err := newBand(c, colour[i], axes)
			if err != nil {
				return nil, err
			}
			p.Add(b)
			for i, y := range c.Y {
				if !axes.LogY || c.Low[i] > y/10 { // others go on below the frame
					low = math.Min(low, c.Low[i])
				}
				high = math.Max(high, axes.clampY(c.High[i]))
			}
		}
		thumbs, err := c.addTo(p, axes, points, colour[i])
		if err != nil {
			return nil, err
		}
		if len(curves) > 1 {
			p.Legend.Add(c.Name, thumbs...)
		}
	}
	if first > last {
		return nil, nil
	}
	if axes.MaxY > 0 && low >= axes.MaxY {
		return nil, fmt.Errorf("all values are above %v", axes.MaxY)
	}
	axes.scaleX(p, first, last)
	s := NewScale(low, high, axes.LogY)
	p.Y.Min, p.Y.Max, p.Y.Tick.Marker = s.Low, s.High, plot.ConstantTicks(s.Ticks)
	f := &Figure{columns: []column{{[]*plot.Plot{p}, 1}}, width: 8 * vg.Inch, height: 5 * vg.Inch}
	if axes.LogY {
		p.Y.Scale = plot.LogScale{}
		f.sides, p.Y.Label.Text = map[*plot.Plot]string{p: axes.Y}, ""
	}
	if len(curves) > 1 {
		return f.legendBeside(names), nil
	}
	return f, nil
}

// stackAbove puts the plot of another figure, which has the same curves, below the plot of f, beside the same legend:
// next to each other they could not be read at the width of a page.
func (f *Figure) stackAbove(other *Figure) *Figure {
	sides := maps.Clone(f.sides)
	maps.Copy(sides, other.sides)
	columns := slices.Clone(f.columns)
	columns[0].plots = []*plot.Plot{f.columns[0].plots[0], other.columns[0].plots[0]}
	return &Figure{heading: f.heading, columns: columns, sides: sides, width: f.width, height: 1.6 * f.height}
}

// legendBeside moves the legend of a figure of one plot out of it, to the right, where it hides no data.
func (f *Figure) legendBeside(names []string) *Figure {
	p, legend := f.columns[0].plots[0], plot.New()
	legend.HideAxes()
	legend.Legend, p.Legend = p.Legend, legend.Legend
	legend.Legend.Top, legend.Legend.Left = true, true
	legend.Legend.XOffs, legend.Legend.YOffs = 0, -vg.Points(30)
	legend.Legend.Padding = vg.Points(4)
	var width vg.Length
	for _, name := range names {
		width = max(width, legend.Legend.TextStyle.Width(name))
	}
	width += legend.Legend.ThumbnailWidth + vg.Points(40)
	return &Figure{columns: []column{{[]*plot.Plot{p}, float64(f.width)}, {[]*plot.Plot{legend}, float64(width)}},
		sides: f.sides, width: f.width + width, height: f.height}
}

// scaleX sets range and ticks of the horizontal axis, for values from first to last. One value alone is in the middle.
func (a Axes) scaleX(p *plot.Plot, first, last float64) {
	switch {
	case a.LogX:
		if last/first < 1.0001 {
			first, last = math.Max(first/2, math.SmallestNonzeroFloat64), math.Min(2*last, math.MaxFloat64)
		}
		p.X.Scale = plot.LogScale{}
		p.X.Tick.Marker = plot.ConstantTicks(logLabels(first, last))
	case first == last:
		room := math.Max(1, math.Abs(first)/2)
		first, last = first-room, last+room
	}
	p.X.Min, p.X.Max = first, last
}

// Scale is the range of an axis with its ticks.
type Scale struct {
	Low, High float64
	Log       bool
	Ticks     []plot.Tick // those without a label are minor
}

// NewScale returns the scale for values from low to high, with some room above, and from zero if it is not logarithmic.
func NewScale(low, high float64, log bool) Scale {
	const room = 0.05 // above the highest value
	if log {
		margin := math.Pow(math.Max(high/low, 1.5), room)
		low = math.Max(low/math.Min(margin, 1.2), math.SmallestNonzeroFloat64)
		high = math.Min(high*margin, math.MaxFloat64)
		return Scale{low, high, true, logLabels(low, high)}
	}
	low, high = math.Min(low, 0), math.Max(high, 0)
	if low == high {
		high = 1
	}
	high += room * (high - low)
	return Scale{low, high, false, roundTicks(low, high)}
}

// Share returns where on the axis a value is, from 0 to 1.
func (s Scale) Share(v float64) float64 {
	if s.Log {
		return math.Log(v/s.Low) / math.Log(s.High/s.Low)
	}
	return (v - s.Low) / (s.High - s.Low)
}

// clampY returns y, or the largest value that there is room for.
func (a Axes) clampY(y float64) float64 {
	if a.MaxY > 0 {
		return math.Min(y, a.MaxY)
	}
	return y
}

// points are the curve's places with the values.
func (c Curve) points(axes Axes, values []float64) (plotter.XYs, error) {
	if len(c.X) != len(values) {
		return nil, fmt.Errorf("%d values at %d places", len(values), len(c.X))
	}
	var points plotter.XYs
	for i, y := range values {
		x := c.X[i]
		if x-x != 0 || y-y != 0 || axes.LogX && x <= 0 || axes.LogY && y <= 0 {
			return nil, fmt.Errorf("value %v at %v of %s cannot be drawn", y, x, c.Name)
		}
		points = append(points, plotter.XY{X: x, Y: y})
	}
	return points, nil
}

// addTo adds the curve, in the index-th colour, to the plot, and returns what a legend shows of it.
func (c Curve) addTo(p *plot.Plot, axes Axes, points plotter.XYs, index int) ([]plot.Thumbnailer, error) {
	line, scatter, err := plotter.NewLinePoints(points)
	if err != nil {
		return nil, fmt.Errorf("drawing %s: %w", c.Name, err)
	}
	line.Color = colourAt(index)
	line.Width = vg.Points(1.5)
	scatter.Color, scatter.Radius, scatter.Shape = line.Color, vg.Points(2), shapes[max(index, 0)%len(shapes)]
	switch {
	case c.Dashed:
		line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
	case c.Dotted:
		line.Dashes = []vg.Length{vg.Points(1.5), vg.Points(2)}
	}
	var thumbs []plot.Thumbnailer
	if !axes.Dots {
		p.Add(line)
		thumbs = append(thumbs, line)
	}
	if axes.Dots || axes.Marks || len(points) == 1 { // a line through one point cannot be seen
		p.Add(scatter)
		thumbs = append(thumbs, scatter)
	}
	return thumbs, nil
}

// roundTicks labels multiples of 1, 2 or 5 times a power of ten, about six of them.
func roundTicks(low, high float64) []plot.Tick {
	rough := (high - low) / 6
	unit := math.Pow(10, math.Floor(math.Log10(rough)))
	step := unit
	for _, factor := range []float64{2, 5, 10} {
		if step < rough {
			step = factor * unit
		}
	}
	var ticks []plot.Tick
	first := math.Ceil(low / step)
	for i := range 20 {
		if v := (first+float64(i))*step + 0; v <= high*(1+1e-12) { // no negative zero
			ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 12, 64)})
		}
	}
	return ticks
}

// logLabels returns the ticks of a logarithmic axis; at least two have labels.
func logLabels(low, high float64) []plot.Tick {
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	var ticks []plot.Tick
	switch {
	case high/low < 2.5:
	case last-first < 4 && low >= 1e-3 && high <= 1e6:
		ticks = logTicks(low, high)
	default:
		ticks = decades(low, high)
	}
	labelled := 0
	for _, t := range ticks {
		if t.Label != "" {
			labelled++
		}
	}
	if labelled < 2 {
		return roundTicks(low, high)
	}
	return ticks
}

// decades labels powers of ten: beyond eight decades some of them only.
func decades(low, high float64) []plot.Tick {
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	step := math.Ceil((last - first) / 8)
	var ticks []plot.Tick
	for e := first; e <= last; e++ {
		if v := math.Pow(10, e); v >= low && v <= high {
			t := plot.Tick{Value: v}
			if math.Mod(e-first, step) == 0 {
				t.Label = power(int(e))
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// power returns 10 to the e as people write it.
func power(e int) string {
	digits := []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")
	label := "10"
	for _, c := range strconv.Itoa(e) {
		if c == '-' {
			label += "⁻"
		} else {
			label += string(digits[c-'0'])
		}
	}
	return label
}

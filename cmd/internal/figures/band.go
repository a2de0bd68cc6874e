package figures

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mafalda/internal/lists"
)

// band fills the inside of an outline, as far as it is in the plot.
type band struct {
	outline plotter.XYs
	fill    color.Color
}

const bandOpacity = 50 // of 255

// newBand is the area between the curve's Low and High.
func newBand(c Curve, index int, axes Axes) (band, error) {
	upper, err := c.points(axes, c.High)
	if err != nil {
		return band{}, err
	}
	lower, err := c.points(axes, c.Low)
	if err != nil {
		return band{}, err
	}
	slices.Reverse(lower)
	fill := palette[index%len(palette)]
	return band{append(upper, lower...), color.NRGBA{fill.R, fill.G, fill.B, bandOpacity}}, nil
}

// Plot draws the band.
func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	points := lists.Map(b.outline, func(v plotter.XY) vg.Point { return vg.Point{X: x(v.X), Y: y(v.Y)} })
	c.FillPolygon(b.fill, c.ClipPolygonXY(points))
}

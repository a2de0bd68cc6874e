// Package figures draws the program's pictures with gonum/plot: as PNG, SVG or PDF, by the ending of the file.
package figures

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is a picture of plots side by side.
type Figure struct {
	heading       string // above all plots
	plots         []*plot.Plot
	sides         map[*plot.Plot]string // to the left of a plot, for a logarithmic axis: see besideSide
	widths        []float64             // relative
	width, height vg.Length
}

// Named is a figure and the name of its files, without an ending.
type Named struct {
	Name   string
	Figure *Figure
}

// Formats are the file endings that WriteAs knows.
func Formats() []string { return []string{".png", ".svg", ".pdf"} }

// WriteAs writes the figure in the format that the name ends in.
func (f *Figure) WriteAs(w io.Writer, name string) error {
	var canvas interface {
		vg.CanvasSizer
		io.WriterTo
	}
	switch ext := filepath.Ext(name); ext {
	case ".png":
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(f.width, f.height), vgimg.UseDPI(144),
			vgimg.UseBackgroundColor(color.White))}
	case ".svg":
		canvas = vgsvg.New(f.width, f.height)
	case ".pdf":
		canvas = newPDF(f.width, f.height)
	default:
		return fmt.Errorf("figure format %q: must be .png, .svg or .pdf", ext)
	}
	var total float64
	for _, v := range f.widths {
		total += v
	}
	all := f.underHeading(draw.New(canvas))
	left := all.Min.X
	for i, p := range f.plots {
		right := left + vg.Length(f.widths[i]/total)*(all.Max.X-all.Min.X)
		part := draw.Canvas{Canvas: all.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: left, Y: all.Min.Y},
			Max: vg.Point{X: right, Y: all.Max.Y}}}
		p.Draw(f.besideSide(p, draw.Crop(part, margin, -margin, margin, -margin)))
		left = right
	}
	if filepath.Ext(name) != ".svg" {
		_, err := canvas.WriteTo(w)
		return err
	}
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	_, err := w.Write([]byte(fixSVG.Replace(strings.Replace(svg.String(), "<g ", svgGround+"<g ", 1))))
	return err
}

// underHeading writes the heading, if there is one, and returns what is left below it.
func (f *Figure) underHeading(all draw.Canvas) draw.Canvas {
	if f.heading == "" {
		return all
	}
	style := f.plots[0].Title.TextStyle
	style.YAlign = draw.YTop
	at := vg.Point{X: (all.Min.X + all.Max.X) / 2, Y: all.Max.Y - margin}
	all.FillText(style, at, f.heading)
	return draw.Crop(all, 0, 0, 0, -margin-style.Height(f.heading))
}

// besideSide writes what stands to the left of a plot, and returns what is left beside it. It is the label of the axis, for
// which gonum/plot makes room in the wrong place if the axis is logarithmic: above the plot.
func (f *Figure) besideSide(p *plot.Plot, part draw.Canvas) draw.Canvas {
	label, ok := f.sides[p]
	if !ok {
		return part
	}
	style := p.Y.Label.TextStyle
	style.Rotation, style.XAlign, style.YAlign = math.Pi/2, draw.XCenter, draw.YTop
	part.FillText(style, vg.Point{X: part.Min.X, Y: (part.Min.Y + part.Max.Y) / 2}, label)
	return draw.Crop(part, style.Height(label)+margin/2, 0, 0, 0)
}

// svgGround makes the margins white, too, for readers with dark pages.
const svgGround = `<rect width="100%" height="100%" fill="#FFFFFF" />` + "\n"

// fixSVG repairs what vgsvg writes: fonts of the same widths are named, so that text ends where it was measured to end on
// every reader's machine; bitmaps fill their rectangle, and have the type they are of.
var fixSVG = strings.NewReplacer(
	"font-family:Liberation Serif;", "font-family:'Liberation Serif','Times New Roman',Tinos,Times,serif;",
	"<image ", `<image preserveAspectRatio="none" `,
	"data:image/jpg;base64,iVBOR", "data:image/png;base64,iVBOR")

const margin = 8 // points around every plot

// palette has colours that people with colour blindness tell apart (Okabe & Ito 2008).
var palette = []color.RGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {230, 159, 0, 255},
	{86, 180, 233, 255}, {0, 0, 0, 255},
}

var shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{},
	draw.RingGlyph{}, draw.BoxGlyph{}, draw.CrossGlyph{}}

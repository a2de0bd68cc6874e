// Package figures draws the program's pictures with gonum/plot: as PNG or SVG, by the ending of the file.
package figures

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is a picture of plots side by side.
type Figure struct {
	plots         []*plot.Plot
	widths        []float64 // relative
	width, height vg.Length
}

// Named is a figure and the name of its files, without an ending.
type Named struct {
	Name   string
	Figure *Figure
}

// Beside returns a figure with the plots of f and then those of the other, as wide as both together.
func (f *Figure) Beside(other *Figure) *Figure {
	joined := &Figure{plots: append(slices.Clone(f.plots), other.plots...), width: f.width + other.width,
		height: max(f.height, other.height)}
	for _, part := range []*Figure{f, other} {
		var total float64
		for _, v := range part.widths {
			total += v
		}
		for _, v := range part.widths {
			joined.widths = append(joined.widths, v/total*float64(part.width))
		}
	}
	return joined
}

// Formats are the file endings that WriteAs knows.
func Formats() []string { return []string{".png", ".svg"} }

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
	default:
		return fmt.Errorf("figure format %q: must be .png or .svg", ext)
	}
	var total float64
	for _, v := range f.widths {
		total += v
	}
	all := draw.New(canvas)
	left := all.Min.X
	for i, p := range f.plots {
		right := left + vg.Length(f.widths[i]/total)*(all.Max.X-all.Min.X)
		part := draw.Canvas{Canvas: all.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: left, Y: all.Min.Y},
			Max: vg.Point{X: right, Y: all.Max.Y}}}
		p.Draw(draw.Crop(part, margin, -margin, margin, -margin))
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

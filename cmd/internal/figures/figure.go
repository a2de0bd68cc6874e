// Package figures draws the program's pictures with gonum/plot: as PNG, SVG or PDF, by the ending of the file.
package figures

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is a picture of plots, in columns.
type Figure struct {
	heading       string // above all plots
	columns       []column
	width, height vg.Length
}

// column is plots below each other, of the same height.
type column struct {
	plots []panel
	width float64 // relative
}

// panel is a plot with what stands to its left and below it: labels of logarithmic axes, for which gonum/plot makes room in the
// wrong place, above the plot and to its right.
type panel struct {
	*plot.Plot
	side, below string
	shown       *shown // of plots of curves
}

// single is a figure of one plot.
func single(p panel, width, height vg.Length) *Figure {
	return &Figure{columns: []column{{[]panel{p}, float64(width)}}, width: width, height: height}
}

// Title is the heading, or what stands above the first plot.
func (f *Figure) Title() string { return cmp.Or(f.heading, f.columns[0].plots[0].Title.Text) }

// Named is a figure and the name of its files, without an ending.
type Named struct {
	Name   string
	Figure *Figure
}

// Pictures are figures with their names, as far as they could be made.
type Pictures struct {
	All []Named
	Err error // the first one of making a figure
}

// Add returns what adds a figure of this name, unless it is nil, or its error.
func (p *Pictures) Add(name string) func(*Figure, error) {
	return func(f *Figure, err error) {
		if p.Err = cmp.Or(p.Err, err); err == nil && f != nil {
			p.All = append(p.All, Named{name, f})
		}
	}
}

// Formats are the file endings that WriteAs knows.
func Formats() []string { return []string{".png", ".svg", ".pdf"} }

// canvas is what figures are drawn on.
type canvas interface {
	vg.CanvasSizer
	io.WriterTo
}

// WriteAs writes the figure in the format that the name ends in. What gonum/plot cannot draw is an error, too.
func (f *Figure) WriteAs(w io.Writer, name string) error {
	var c canvas
	var err error
	switch ext := filepath.Ext(name); ext {
	case ".png":
		c = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(f.width, f.height), vgimg.UseDPI(144), vgimg.UseBackgroundColor(color.White))}
	case ".svg":
		svg := &svgCanvas{Canvas: vgsvg.New(f.width, f.height), title: f.Title()}
		svg.data, err = f.data()
		c = svg
	case ".pdf":
		c, err = newPDF(f.width, f.height, f.Title())
	default:
		err = fmt.Errorf("figure format %q: must be .png, .svg or .pdf", ext)
	}
	if err != nil {
		return err
	}
	if err := f.drawOn(c); err != nil {
		return fmt.Errorf("drawing %s: %w", filepath.Base(name), err)
	}
	_, err = c.WriteTo(w)
	return err
}

// drawOn draws the figure. gonum/plot panics where an axis or a glyph is none; results must not be lost by a picture.
func (f *Figure) drawOn(c vg.CanvasSizer) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("gonum/plot: %v", r)
		}
	}()
	var total float64
	for _, of := range f.columns {
		total += of.width
	}
	all := f.underHeading(draw.New(c))
	size, left := all.Size(), all.Min.X
	for _, of := range f.columns {
		part := all
		part.Min.X, part.Max.X = left, left+vg.Length(of.width/total)*size.X
		left = part.Max.X
		for _, p := range of.plots {
			part.Min.Y = part.Max.Y - size.Y/vg.Length(len(of.plots))
			p.drawOn(draw.Crop(part, margin, -margin, margin, -margin))
			part.Max.Y = part.Min.Y
		}
	}
	return nil
}

// drawOn draws the plot beside its side, with line breaks in what is too long for its place.
func (p panel) drawOn(part draw.Canvas) {
	size, fitting := part.Size(), *p.Plot
	fitting.Title.Text = broken(p.Title.TextStyle, p.Title.Text, size.X)
	fitting.X.Label.Text = broken(p.X.Label.TextStyle, p.X.Label.Text, size.X)
	if p.below != "" {
		style := p.X.Label.TextStyle
		style.XAlign, style.YAlign = draw.XCenter, draw.YBottom
		label := broken(style, p.below, size.X)
		part.FillText(style, vg.Point{X: (part.Min.X + part.Max.X) / 2, Y: part.Min.Y}, label)
		part = draw.Crop(part, 0, 0, style.Height(label)+margin/2, 0)
	}
	if p.side != "" {
		style := p.Y.Label.TextStyle
		style.Rotation, style.XAlign, style.YAlign = math.Pi/2, draw.XCenter, draw.YTop
		label := broken(style, p.side, size.Y)
		part.FillText(style, vg.Point{X: part.Min.X, Y: (part.Min.Y + part.Max.Y) / 2}, label)
		part = draw.Crop(part, style.Height(label)+margin/2, 0, 0, 0)
	}
	fitting.Y.Label.Text = broken(p.Y.Label.TextStyle, p.Y.Label.Text, size.Y)
	fitting.Draw(part)
}

// underHeading writes the heading, if there is one, and returns what is left below it.
func (f *Figure) underHeading(all draw.Canvas) draw.Canvas {
	if f.heading == "" {
		return all
	}
	style := f.columns[0].plots[0].Title.TextStyle
	style.XAlign, style.YAlign = draw.XCenter, draw.YTop
	heading := broken(style, f.heading, all.Size().X-2*margin)
	at := vg.Point{X: (all.Min.X + all.Max.X) / 2, Y: all.Max.Y - margin}
	all.FillText(style, at, heading)
	return draw.Crop(all, 0, 0, 0, -margin-style.Height(heading))
}

// broken returns a text in lines that are at most so wide: between words, and within those that are wider.
func broken(style text.Style, txt string, width vg.Length) string {
	var lines []string
	for _, line := range strings.Split(txt, "\n") {
		if style.Width(line) <= width {
			lines = append(lines, line)
			continue
		}
		kept := ""
		for _, word := range strings.Split(line, " ") {
			if kept != "" && style.Width(kept+" "+word) <= width {
				kept += " " + word
				continue
			}
			if kept != "" {
				lines = append(lines, kept)
			}
			kept = ""
			for _, r := range word {
				if kept != "" && style.Width(kept+string(r)) > width {
					lines, kept = append(lines, kept), ""
				}
				kept += string(r)
			}
		}
		lines = append(lines, kept)
	}
	return strings.Join(lines, "\n")
}

const margin = 8 // points around every plot

// palette has colours that people with colour blindness tell apart (Okabe & Ito 2008).
var palette = []color.RGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {230, 159, 0, 255},
	{86, 180, 233, 255}, {0, 0, 0, 255},
}

var shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{},
	draw.RingGlyph{}, draw.BoxGlyph{}, draw.CrossGlyph{}}

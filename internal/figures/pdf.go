package figures

import (
	"image"
	"image/color"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// pdfCanvas is vgpdf's canvas, but text is drawn as the outlines of its letters: a reader needs no fonts, and sees the
// Greek letters and superscripts that the encoding of vgpdf has not. Nothing in the file depends on when it was made.
type pdfCanvas struct {
	*vgpdf.Canvas
	letters *sfnt.Buffer
}

func newPDF(width, height vg.Length) pdfCanvas {
	return pdfCanvas{vgpdf.New(width, height), &sfnt.Buffer{}}
}

// straight is a colour that says its components without multiplying them by its opacity: so vgpdf reads them.
type straight color.NRGBA

func (c straight) RGBA() (r, g, b, a uint32) {
	const full = 0x101
	return full * uint32(c.R), full * uint32(c.G), full * uint32(c.B), full * uint32(c.A)
}

// SetColor sets the colour of what is drawn next.
func (c pdfCanvas) SetColor(to color.Color) {
	if to == nil {
		to = color.Black
	}
	c.Canvas.SetColor(straight(color.NRGBAModel.Convert(to).(color.NRGBA)))
}

// DrawImage draws an image with its first row on top, where vgpdf has its last.
func (c pdfCanvas) DrawImage(in vg.Rectangle, img image.Image) {
	b := img.Bounds()
	turned := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	for y := range b.Dy() {
		for x := range b.Dx() {
			turned.Set(x, b.Dy()-1-y, img.At(b.Min.X+x, b.Min.Y+y))
		}
	}
	c.Canvas.DrawImage(in, turned)
}

// FillString draws text whose first letter begins at a point on the base line.
func (c pdfCanvas) FillString(f plotfont.Face, at vg.Point, text string) {
	const em = 1000 // to the outlines' precision
	unit := f.Font.Size / (em * 64)
	var before sfnt.GlyphIndex
	for i, r := range text {
		letter, err := f.Face.GlyphIndex(c.letters, r)
		if err != nil {
			return // no font is like this: those of the program are read in every test
		}
		if i > 0 {
			if kern, err := f.Face.Kern(c.letters, before, letter, fixed.I(em), font.HintingNone); err == nil {
				at.X += unit * vg.Length(kern)
			}
		}
		outline, err := f.Face.LoadGlyph(c.letters, letter, fixed.I(em), nil)
		if err != nil {
			return
		}
		if path := outlined(outline, at, unit); len(path) > 0 {
			c.Fill(path)
		}
		advance, err := f.Face.GlyphAdvance(c.letters, letter, fixed.I(em), font.HintingNone)
		if err != nil {
			return
		}
		at.X += unit * vg.Length(advance)
		before = letter
	}
}

// outlined returns the outline of a letter at a point. Curves of the second degree are written as those of the third.
func outlined(outline sfnt.Segments, at vg.Point, unit vg.Length) vg.Path {
	var path vg.Path
	place := func(p fixed.Point26_6) vg.Point {
		return vg.Point{X: at.X + unit*vg.Length(p.X), Y: at.Y - unit*vg.Length(p.Y)}
	}
	between := func(from, to vg.Point) vg.Point { // two thirds of the way
		return vg.Point{X: from.X + (to.X-from.X)*2/3, Y: from.Y + (to.Y-from.Y)*2/3}
	}
	var pen vg.Point
	for _, s := range outline {
		end := place(s.Args[0])
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			path.Move(end)
		case sfnt.SegmentOpLineTo:
			path.Line(end)
		case sfnt.SegmentOpQuadTo:
			bend := end
			end = place(s.Args[1])
			path.CubeTo(between(pen, bend), between(end, bend), end)
		case sfnt.SegmentOpCubeTo:
			bend := end
			end = place(s.Args[2])
			path.CubeTo(bend, place(s.Args[1]), end)
		}
		pen = end
	}
	if len(path) > 0 {
		path.Close()
	}
	return path
}

// Files of the same figure are the same: without this they would have the time in them, and images in random order.
func init() {
	fpdf.SetDefaultCatalogSort(true)
	fpdf.SetDefaultCreationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultModificationDate(time.Unix(0, 0).UTC())
}

package figures

import (
	"image"
	"image/color"
	"slices"
	"time"

	"codeberg.org/go-pdf/fpdf"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// pdfCanvas is vgpdf's canvas, but text is drawn as the outlines of its letters: the encoding of vgpdf has no Greek
// letters. Nothing in the file depends on when it was made.
type pdfCanvas struct {
	*vgpdf.Canvas
	images int // so far
}

// straight is a colour that says its components without multiplying them by its opacity: so vgpdf reads them.
type straight color.NRGBA

func (c straight) RGBA() (r, g, b, a uint32) {
	const full = 0x101
	return full * uint32(c.R), full * uint32(c.G), full * uint32(c.B), full * uint32(c.A)
}

// SetColor sets the colour of what is drawn next.
func (c *pdfCanvas) SetColor(to color.Color) {
	if to == nil {
		to = color.Black
	}
	c.Canvas.SetColor(straight(color.NRGBAModel.Convert(to).(color.NRGBA)))
}

// DrawImage draws an image with its first row on top, where vgpdf has its last. The second one of a picture has every column
// twice, and so on: fpdf sorts images by their widths, and leaves the order of equal ones to chance.
func (c *pdfCanvas) DrawImage(in vg.Rectangle, img image.Image) {
	c.images++
	b := img.Bounds()
	turned := image.NewNRGBA(image.Rect(0, 0, b.Dx()*c.images, b.Dy()))
	for y := range b.Dy() {
		for x := range turned.Rect.Dx() {
			turned.Set(x, b.Dy()-1-y, img.At(b.Min.X+x/c.images, b.Min.Y+y))
		}
	}
	c.Canvas.DrawImage(in, turned)
}

// Fill fills a path. Quadratic curves are written as cubic ones: vgpdf would write other curves.
func (c *pdfCanvas) Fill(path vg.Path) {
	between := func(from, to vg.Point) vg.Point { // two thirds of the way
		return vg.Point{X: from.X + (to.X-from.X)*2/3, Y: from.Y + (to.Y-from.Y)*2/3}
	}
	cubic := slices.Clone(path)
	var pen vg.Point
	for i, p := range path {
		if p.Type == vg.CurveComp && len(p.Control) == 1 {
			cubic[i].Control = []vg.Point{between(pen, p.Control[0]), between(p.Pos, p.Control[0])}
		}
		pen = p.Pos
	}
	c.Canvas.Fill(cubic)
}

// FillString draws text whose first letter begins at a point on the base line.
func (c *pdfCanvas) FillString(f plotfont.Face, at vg.Point, line string) {
	fillLetters(c, f, at, line)
}

// Files of the same figure are the same: without this they would have the time in them, and images in random order.
func init() {
	fpdf.SetDefaultCatalogSort(true)
	fpdf.SetDefaultCreationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultModificationDate(time.Unix(0, 0).UTC())
}

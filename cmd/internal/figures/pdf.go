package figures

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"

	"mafalda/internal/lists"
)

// pdfCanvas draws on the page of a PDF, whose text is text, in a part of the font that is in the file: vgpdf has no Greek letters.
// Nothing in the file depends on when it was made.
type pdfCanvas struct {
	doc           *fpdf.Fpdf
	width, height vg.Length
	line          vg.Length // width of lines
	images        int       // so far
}

func newPDF(width, height vg.Length, title string) (*pdfCanvas, error) {
	var font bytes.Buffer
	face := plotfont.DefaultCache.Lookup(plot.DefaultFont, 12)
	if _, err := face.Face.WriteSourceTo(nil, &font); err != nil {
		return nil, err
	}
	doc := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: width.Points(), Ht: height.Points()}})
	doc.SetCatalogSort(true)
	doc.SetCreationDate(time.Unix(0, 0).UTC())
	doc.SetModificationDate(time.Unix(0, 0).UTC())
	doc.SetTitle(title, true)
	doc.AddUTF8FontFromBytes(face.Name(), "", font.Bytes())
	doc.AddPage()
	c := &pdfCanvas{doc: doc, width: width, height: height}
	c.Push()
	c.Translate(vg.Point{Y: height}) // the origin is at the bottom
	c.Scale(1, -1)
	vg.Initialize(c)
	return c, nil
}

// Size returns the size of the page.
func (c *pdfCanvas) Size() (width, height vg.Length) { return c.width, c.height }

// WriteTo writes the file.
func (c *pdfCanvas) WriteTo(w io.Writer) (int64, error) {
	c.Pop()
	var file bytes.Buffer
	if err := c.doc.Output(&file); err != nil {
		return 0, err
	}
	return file.WriteTo(w)
}

// SetLineWidth sets the width of the next lines.
func (c *pdfCanvas) SetLineWidth(width vg.Length) {
	c.line = width
	c.doc.SetLineWidth(width.Points())
}

// SetLineDash sets the dashes of the next lines.
func (c *pdfCanvas) SetLineDash(dashes []vg.Length, offset vg.Length) {
	c.doc.SetDashPattern(lists.Map(dashes, vg.Length.Points), offset.Points())
}

// SetColor sets the colour of what is drawn next.
func (c *pdfCanvas) SetColor(to color.Color) {
	if to == nil {
		to = color.Black
	}
	of := color.NRGBAModel.Convert(to).(color.NRGBA)
	for _, set := range []func(r, g, b int){c.doc.SetDrawColor, c.doc.SetFillColor, c.doc.SetTextColor} {
		set(int(of.R), int(of.G), int(of.B))
	}
	c.doc.SetAlpha(float64(of.A)/255, "Normal")
}

// Rotate turns what is drawn next, by radians.
func (c *pdfCanvas) Rotate(angle float64) { c.doc.TransformRotate(-angle*180/math.Pi, 0, 0) }

// Translate moves the origin.
func (c *pdfCanvas) Translate(by vg.Point) { c.doc.TransformTranslate(by.X.Points(), by.Y.Points()) }

// Scale makes what is drawn next larger.
func (c *pdfCanvas) Scale(x, y float64) { c.doc.TransformScale(100*x, 100*y, 0, 0) }

// Push keeps the state for Pop.
func (c *pdfCanvas) Push() { c.doc.TransformBegin() }

// Pop goes back to the state at Push.
func (c *pdfCanvas) Pop() { c.doc.TransformEnd() }

// Stroke draws a line along a path.
func (c *pdfCanvas) Stroke(path vg.Path) {
	if c.line > 0 {
		c.draw(path, "D")
	}
}

// Fill fills a path.
func (c *pdfCanvas) Fill(path vg.Path) { c.draw(path, "F") }

func (c *pdfCanvas) draw(path vg.Path, style string) {
	for _, p := range path {
		x, y := p.Pos.X.Points(), p.Pos.Y.Points()
		switch p.Type {
		case vg.MoveComp:
			c.doc.MoveTo(x, y)
		case vg.LineComp:
			c.doc.LineTo(x, y)
		case vg.ArcComp:
			c.arc(x, y, p.Radius.Points(), p.Start, p.Angle)
		case vg.CloseComp:
			c.doc.ClosePath()
		default:
			panic("figures: a curve") // no plot has any
		}
	}
	c.doc.DrawPath(style)
}

// arc adds cubic curves for a quarter of a circle each, or less.
func (c *pdfCanvas) arc(x, y, radius, start, angle float64) {
	parts := math.Ceil(math.Abs(angle) * 2 / math.Pi)
	step := angle / parts
	at := func(angle, along float64) (float64, float64) { // along the tangent
		sin, cos := math.Sincos(angle)
		return x + radius*(cos-along*sin), y + radius*(sin+along*cos)
	}
	along := 4 / 3.0 * math.Tan(step/4)
	c.doc.LineTo(at(start, 0))
	for range int(parts) {
		x1, y1 := at(start, along)
		start += step
		x2, y2 := at(start, -along)
		endX, endY := at(start, 0)
		c.doc.CurveBezierCubicTo(x1, y1, x2, y2, endX, endY)
	}
}

// FillString draws text whose first letter begins at a point on the base line.
func (c *pdfCanvas) FillString(f plotfont.Face, at vg.Point, line string) {
	c.doc.SetFont(f.Name(), "", f.Font.Size.Points())
	c.Push()
	c.Translate(at)
	c.Scale(1, -1)
	c.doc.Text(0, 0, line)
	c.Pop()
}

// DrawImage draws an image. The second one of a picture has every column twice, and so on: fpdf sorts images by their widths, and
// leaves the order of equal ones to chance.
func (c *pdfCanvas) DrawImage(in vg.Rectangle, img image.Image) {
	c.images++
	b := img.Bounds()
	wide := image.NewNRGBA(image.Rect(0, 0, b.Dx()*c.images, b.Dy()))
	for y := range b.Dy() {
		for x := range wide.Rect.Dx() {
			wide.Set(x, y, img.At(b.Min.X+x/c.images, b.Min.Y+y))
		}
	}
	var file bytes.Buffer
	if err := png.Encode(&file, wide); err != nil {
		panic(err)
	}
	name, options, size := fmt.Sprint(c.images), fpdf.ImageOptions{ImageType: "png"}, in.Size()
	c.doc.RegisterImageOptionsReader(name, options, &file)
	c.Push()
	c.Translate(vg.Point{X: in.Min.X, Y: in.Max.Y})
	c.Scale(1, -1)
	c.doc.ImageOptions(name, 0, 0, size.X.Points(), size.Y.Points(), false, options, 0, "")
	c.Pop()
}

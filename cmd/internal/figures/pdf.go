package figures

import (
	"bytes"
	"image/png"
	"strconv"
	"strings"
	"time"

	"codeberg.org/go-fonts/liberation/liberationserifregular"
	"codeberg.org/go-pdf/fpdf"
)

// pdf writes a page whose text is text, in a part of the font that is in the file. Nothing in the file depends on when it was made.
func (p *page) pdf() ([]byte, error) {
	d := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: p.width, Ht: p.height}})
	d.SetCatalogSort(true)
	d.SetCreationDate(time.Unix(0, 0))
	d.SetModificationDate(time.Unix(0, 0))
	d.SetTitle(p.title, true)
	d.SetCreator("mafalda", true)
	d.SetAutoPageBreak(false, 0)
	d.AddPage()
	d.AddUTF8FontFromBytes("serif", "", liberationserifregular.TTF)
	d.SetFont("serif", "", p.em)
	widths := map[int]bool{} // of images
	for i, s := range p.shapes {
		if s.says != "" {
			continue
		}
		at, r, g, b := s.points[0], int(s.colour.R), int(s.colour.G), int(s.colour.B)
		d.SetAlpha(float64(s.colour.A)/255, "Normal")
		d.SetTextColor(r, g, b)
		d.SetDrawColor(r, g, b)
		d.SetFillColor(r, g, b)
		switch {
		case s.image != nil:
			picture := s.image
			for widths[picture.Rect.Dx()] { // images of one width would be in the file in any order
				picture = enlarge(picture, 2)
			}
			widths[picture.Rect.Dx()] = true
			var file bytes.Buffer
			if err := png.Encode(&file, picture); err != nil {
				return nil, err
			}
			name, as := strconv.Itoa(i), fpdf.ImageOptions{ImageType: "png"}
			d.RegisterImageOptionsReader(name, as, &file)
			d.ImageOptions(name, at.X, at.Y, s.points[1].X-at.X, s.points[1].Y-at.Y, false, as, 0, "")
		case s.text != "":
			d.SetFontSize(s.size)
			d.TransformBegin()
			if s.upward {
				d.TransformRotate(90, at.X, at.Y)
			}
			d.Text(at.X, at.Y, strings.Map(func(r rune) rune { return min(r, '\uFFFD') }, s.text)) // the last that a font file maps
			d.TransformEnd()
		default:
			style := "F"
			if s.width > 0 {
				style = "D"
				d.SetLineWidth(s.width)
				d.SetDashPattern(s.dashes, 0)
			}
			d.MoveTo(at.X, at.Y)
			for _, at := range s.points[1:] {
				d.LineTo(at.X, at.Y)
			}
			d.DrawPath(style)
		}
	}
	var file bytes.Buffer
	err := d.Output(&file)
	return file.Bytes(), err
}

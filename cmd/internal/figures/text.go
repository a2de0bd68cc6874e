package figures

import (
	"slices"

	"gonum.org/v1/plot"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// Text is text in every format: readers find its words. An exponent is a run of raised digits of the usual kind: the font has some
// superscripts only, of two sizes.

const (
	superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
	plainDigits  = "0123456789−"
	raisedSize   = 0.65 // of a superscript, relative to the other letters
	raisedBy     = 0.36 // of their size
)

// run is a part of a line in letters of one size, with its place relative to the beginning of the line.
type run struct {
	face plotfont.Face
	text string
	at   vg.Point
}

// lay splits a line into runs, and returns its width.
func lay(face plotfont.Face, line string) (runs []run, width vg.Length) {
	digits := []rune(plainDigits)
	raised := false
	for _, r := range line {
		digit := slices.Index([]rune(superscripts), r)
		if up := digit >= 0; runs == nil || up != raised {
			runs, raised = append(runs, run{face: face}), up
		}
		last := &runs[len(runs)-1]
		if raised {
			r = digits[digit]
			last.face.Font.Size, last.at.Y = raisedSize*face.Font.Size, raisedBy*face.Font.Size
		}
		last.text += string(r)
	}
	for i, r := range runs {
		runs[i].at.X = width
		width += r.face.Width(r.text)
	}
	return runs, width
}

// lettering measures and draws text in runs.
type lettering struct{ text.Plain }

// Box returns the size of a line.
func (h lettering) Box(line string, of plotfont.Font) (width, height, depth vg.Length) {
	face := h.Fonts.Lookup(of, of.Size)
	_, width = lay(face, line)
	return width, face.Extents().Ascent, face.Extents().Descent
}

// Draw draws lines of text at a point.
func (h lettering) Draw(c vg.Canvas, txt string, style text.Style, at vg.Point) {
	face := h.Fonts.Lookup(style.Font, style.Font.Size)
	c.SetColor(style.Color)
	c.Push()
	c.Translate(at)
	if style.Rotation != 0 {
		c.Rotate(style.Rotation)
	}
	below := style.Height(txt)*vg.Length(style.YAlign) - face.Extents().Ascent
	lines := h.Lines(txt)
	for i, line := range lines {
		runs, width := lay(face, line)
		begin := vg.Point{X: vg.Length(style.XAlign) * width, Y: below + vg.Length(len(lines)-i)*face.Font.Size}
		for _, r := range runs {
			c.FillString(r.face, begin.Add(r.at), r.text)
		}
	}
	c.Pop()
}

func init() { plot.DefaultTextHandler = lettering{text.Plain{Fonts: plotfont.DefaultCache}} }

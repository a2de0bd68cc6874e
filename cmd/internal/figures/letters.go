package figures

import (
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// Text is drawn as the outlines of its letters, in every format: a reader needs no fonts, and text ends where it was
// measured to end. Exponents are raised digits of the usual kind: the font has some superscripts only, of two sizes.

// raised returns the character that a superscript is drawn with.
func raised(r rune) (plain rune, ok bool) {
	switch r {
	case '¹':
		return '1', true
	case '²', '³':
		return r - '²' + '2', true
	case '⁰', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹':
		return r - '⁰' + '0', true
	case '⁻':
		return '−', true
	}
	return r, false
}

const (
	raisedSize = 0.65 // of a superscript, relative to the other letters
	raisedBy   = 0.36 // of their size
)

// letter is a letter of a line of text, with its place relative to the beginning of the line.
type letter struct {
	glyph sfnt.GlyphIndex // 0: the font has none
	at    vg.Point
	size  vg.Length
	wide  vg.Length
}

const em = 1000 // to which precision outlines are asked for

// lay places the letters of a line, and returns its width.
func lay(f plotfont.Face, line string) (letters []letter, width vg.Length) {
	var buffer sfnt.Buffer
	for _, r := range line {
		plain, up := raised(r)
		l := letter{at: vg.Point{X: width}, size: f.Font.Size}
		if up {
			l.at.Y, l.size = raisedBy*l.size, raisedSize*l.size
		}
		unit := l.size / (em * 64)
		var err error
		if l.glyph, err = f.Face.GlyphIndex(&buffer, plain); err != nil {
			panic("figures: the font: " + err.Error())
		}
		if n := len(letters); n > 0 && letters[n-1].size == l.size {
			before := letters[n-1].glyph
			if kern, err := f.Face.Kern(&buffer, before, l.glyph, fixed.I(em), font.HintingNone); err == nil {
				l.at.X += unit * vg.Length(kern)
			}
		}
		advance, err := f.Face.GlyphAdvance(&buffer, l.glyph, fixed.I(em), font.HintingNone)
		if err != nil {
			panic("figures: the font: " + err.Error())
		}
		l.wide = unit * vg.Length(advance)
		width = l.at.X + l.wide
		letters = append(letters, l)
	}
	return letters, width
}

// outline returns the outlines of letters; a frame for one that the font does not have.
func outline(f plotfont.Face, letters []letter) vg.Path {
	var buffer sfnt.Buffer
	var path vg.Path
	for _, l := range letters {
		if l.glyph == 0 {
			path = append(path, frame(l)...)
			continue
		}
		segments, err := f.Face.LoadGlyph(&buffer, l.glyph, fixed.I(em), nil)
		if err != nil {
			panic("figures: the font: " + err.Error())
		}
		unit := l.size / (em * 64)
		place := func(p fixed.Point26_6) vg.Point {
			return hundredths(vg.Point{X: l.at.X + unit*vg.Length(p.X), Y: l.at.Y - unit*vg.Length(p.Y)})
		}
		for _, s := range segments {
			switch s.Op {
			case sfnt.SegmentOpMoveTo:
				path.Move(place(s.Args[0]))
			case sfnt.SegmentOpLineTo:
				path.Line(place(s.Args[0]))
			case sfnt.SegmentOpQuadTo:
				path.QuadTo(place(s.Args[0]), place(s.Args[1]))
			case sfnt.SegmentOpCubeTo:
				path.CubeTo(place(s.Args[0]), place(s.Args[1]), place(s.Args[2]))
			}
		}
	}
	if len(path) > 0 {
		path.Close()
	}
	return path
}

// hundredths rounds a point to hundredths of a point, so that files are small.
func hundredths(p vg.Point) vg.Point {
	round := func(v vg.Length) vg.Length { return vg.Length(math.Round(100*float64(v)) / 100) }
	return vg.Point{X: round(p.X), Y: round(p.Y)}
}

// frame stands for a letter that the font does not have.
func frame(l letter) vg.Path {
	var path vg.Path
	edge := 0.06 * l.size
	left, right, top := l.at.X+edge, l.at.X+l.wide-edge, l.at.Y+0.65*l.size
	add := func(inside vg.Length, clockwise bool) {
		corners := []vg.Point{{X: left + inside, Y: l.at.Y + inside}, {X: left + inside, Y: top - inside},
			{X: right - inside, Y: top - inside}, {X: right - inside, Y: l.at.Y + inside}}
		path.Move(hundredths(corners[0]))
		for i := range 4 { // back to the first
			k := (i + 1) % 4
			if !clockwise {
				k = 3 - i
			}
			path.Line(hundredths(corners[k]))
		}
	}
	add(0, true)
	add(edge, false)
	return path
}

// fillLetters draws a line of text on a canvas, from a point on the base line on.
func fillLetters(c vg.Canvas, f plotfont.Face, at vg.Point, line string) {
	letters, _ := lay(f, line)
	path := outline(f, letters)
	if len(path) == 0 {
		return
	}
	c.Push()
	c.Translate(at)
	c.Fill(path)
	c.Pop()
}

// lettering measures and aligns text as it is laid out here.
type lettering struct{ text.Plain }

// Box returns the size of a line.
func (h lettering) Box(line string, of plotfont.Font) (width, height, depth vg.Length) {
	face := h.Fonts.Lookup(of, of.Size)
	extents := face.Extents()
	_, width = lay(face, line)
	return width, extents.Ascent, extents.Descent
}

// Draw draws lines of text at a point.
func (h lettering) Draw(c vg.Canvas, txt string, style text.Style, at vg.Point) {
	lines := h.Lines(txt)
	face := h.Fonts.Lookup(style.Font, style.Font.Size)
	c.SetColor(style.Color)
	c.Push()
	c.Translate(at)
	c.Rotate(style.Rotation)
	base := style.Height(txt)*vg.Length(style.YAlign) - face.Extents().Ascent
	for i, line := range lines {
		_, width := lay(face, line)
		below := vg.Length(len(lines)-i) * style.Font.Size
		c.FillString(face, vg.Point{X: vg.Length(style.XAlign) * width, Y: base + below}, line)
	}
	c.Pop()
}

func init() { plot.DefaultTextHandler = lettering{text.Plain{Fonts: plotfont.DefaultCache}} }

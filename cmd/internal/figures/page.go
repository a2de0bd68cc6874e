package figures

import (
	"image"
	"image/color"
	"math"
	"slices"
	"strings"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationserifregular"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// Point is a place in a plane.
type Point struct{ X, Y float64 }

// page is what a figure is drawn on: shapes in points of 1/72 inch, from the upper left corner.
type page struct {
	title, data   string // data is for programs
	width, height float64
	em            float64 // size of the letters
	shapes        []shape
}

// shape is a line, an area, a text, an image, or words that a place says.
type shape struct {
	points []Point // points of a line or an area; where a text or words are; opposite corners of an image
	colour color.NRGBA
	width  float64   // width of a line; 0: an area
	dashes []float64 // lengths of dashes and gaps; nil: none
	text   string
	line   string  // the whole line, of its first text
	size   float64 // size of the letters of a text
	align  float64 // the share of a text that is before the place that it belongs to
	upward bool    // the text goes from the bottom to the top
	image  *image.RGBA
	says   string
}

// black is the colour of text and axes.
var black = color.NRGBA{A: 255}

// line draws a line through points.
func (p *page) line(colour color.NRGBA, width float64, dashes []float64, points ...Point) {
	p.shapes = append(p.shapes, shape{points: points, colour: colour, width: width, dashes: dashes})
}

// area fills a polygon.
func (p *page) area(colour color.NRGBA, points ...Point) {
	p.shapes = append(p.shapes, shape{points: points, colour: colour})
}

// disc fills a circle.
func (p *page) disc(colour color.NRGBA, at Point, radius float64) {
	p.area(colour, polygon(at, radius, 24, 0)...)
}

// polygon returns the corners of a regular polygon, the first of them turned away from the right.
func polygon(at Point, radius float64, corners int, turn float64) []Point {
	all := make([]Point, corners)
	for i := range all {
		sin, cos := math.Sincos(turn + 2*math.Pi*float64(i)/float64(corners))
		all[i] = Point{at.X + radius*cos, at.Y + radius*sin}
	}
	return all
}

// rect fills a rectangle.
func (p *page) rect(colour color.NRGBA, left, top, right, bottom float64) {
	p.area(colour, Point{left, top}, Point{right, top}, Point{right, bottom}, Point{left, bottom})
}

// picture draws an image in a rectangle.
func (p *page) picture(image *image.RGBA, left, top, right, bottom float64) {
	p.shapes = append(p.shapes, shape{points: []Point{{left, top}, {right, bottom}}, colour: black, image: image})
}

// write writes a line of text on a base line, whose share align is left of the point.
func (p *page) write(at Point, align, size float64, line string) {
	p.letter(Point{at.X - align*width(line, size), at.Y}, align, size, line, false)
}

// writeUpward writes a line of text from the bottom to the top, around a point of its base line.
func (p *page) writeUpward(at Point, size float64, line string) {
	p.letter(Point{at.X, at.Y + width(line, size)/2}, 0.5, size, line, true)
}

// letter writes a line of text from its beginning.
func (p *page) letter(at Point, align, size float64, line string, upward bool) {
	all := texts(at, size, line, upward)
	for i := range all {
		all[i].align = align
		if len(all) > 1 { // what is raised begins where its base ends, whatever font a reader has
			all[i].align = float64(max(0, 1-i))
		}
	}
	p.shapes = append(p.shapes, all...)
}

// paragraph writes lines of text, broken where they are wider than a width, around x, and returns how far down they go.
func (p *page) paragraph(x, top, wide, size float64, text string) (bottom float64) {
	if text == "" {
		return top
	}
	for line := range strings.SplitSeq(breakEvenly(size, text, wide), "\n") {
		top += leading * size
		p.write(Point{x, top - 0.3*size}, 0.5, size, line)
	}
	return top
}

const leading = 1.2 // distance of lines of text, relative to their size

// Text is text in every format: readers find its words. An exponent is a run of raised digits of the usual kind: the font has some
// superscripts only, of two sizes.
const (
	superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
	plainDigits  = "0123456789−"
	raisedSize   = 0.65 // of a superscript, relative to the other letters
	raisedBy     = 0.36 // of their size
)

// texts splits a line of text into shapes, whose letters have one size each.
func texts(at Point, size float64, line string, upward bool) (all []shape) {
	digits, raised, by := []rune(plainDigits), false, raisedBy*size
	for _, r := range line {
		digit := slices.Index([]rune(superscripts), r)
		if up := digit >= 0; all == nil || up != raised {
			if all != nil {
				at = all[len(all)-1].end()
			}
			switch {
			case up != raised && upward:
				at.X, by = at.X-by, -by
			case up != raised:
				at.Y, by = at.Y-by, -by
			}
			all, raised = append(all, shape{points: []Point{at}, colour: black, size: size, upward: upward}), up
		}
		last := &all[len(all)-1]
		if raised {
			r, last.size = digits[digit], raisedSize*size
		}
		last.text += string(r)
	}
	if all != nil {
		all[0].line = line
	}
	return all
}

// end returns where the base line of a text ends.
func (s shape) end() Point {
	at, wide := s.points[0], advance(s.text)*s.size
	if s.upward {
		return Point{at.X, at.Y - wide}
	}
	return Point{at.X + wide, at.Y}
}

// width returns the width of a line of text.
func width(line string, size float64) (wide float64) {
	for _, s := range texts(Point{}, size, line, false) {
		wide = s.end().X
	}
	return wide
}

// serif is the font of all text.
var serif = sync.OnceValue(func() *sfnt.Font {
	f, err := sfnt.Parse(liberationserifregular.TTF)
	if err != nil {
		panic(err) // it is in the program
	}
	return f
})

// glyph returns the place of a character in the font; 0 if it has none.
func glyph(r rune) sfnt.GlyphIndex {
	g, _ := serif().GlyphIndex(nil, r)
	return g
}

// glyphAdvance returns how wide a character is, in units of the font.
func glyphAdvance(g sfnt.GlyphIndex) float64 {
	wide, _ := serif().GlyphAdvance(nil, g, fixed.I(int(serif().UnitsPerEm())), font.HintingNone)
	return float64(wide) / 64
}

// advances are how wide characters are, relative to their size, as far as they were asked for.
var advances sync.Map

// advance returns how wide a text is, relative to the size of its letters.
func advance(text string) (wide float64) {
	for _, r := range text {
		known, there := advances.Load(r)
		if !there {
			known = glyphAdvance(glyph(r)) / float64(serif().UnitsPerEm())
			advances.Store(r, known)
		}
		wide += known.(float64)
	}
	return wide
}

// unbroken keeps together what belongs together.
var unbroken = strings.NewReplacer(" = ", "\u00a0=\u00a0", " ≤ ", "\u00a0≤\u00a0",
	"(ε, δ)", "(ε,\u00a0δ)", ", 10", ",\u00a010")

// broken returns a text in lines that are at most so wide: between words, and within those that are wider.
func broken(size float64, text string, wide float64) string {
	var lines []string
	text = unbroken.Replace(text)
	for line := range strings.SplitSeq(text, "\n") {
		kept := ""
		for _, word := range strings.Split(line, " ") {
			if kept != "" && width(kept+" "+word, size) <= wide {
				kept += " " + word
				continue
			}
			if kept != "" {
				lines = append(lines, kept)
			}
			kept = ""
			for _, r := range word {
				if kept != "" && width(kept+string(r), size) > wide {
					lines, kept = append(lines, kept), ""
				}
				kept += string(r)
			}
		}
		lines = append(lines, kept)
	}
	return strings.ReplaceAll(strings.Join(lines, "\n"), "\u00a0", " ")
}

// breakEvenly breaks a text as broken does, with lines as short as their number allows, so that the last is no single word.
func breakEvenly(size float64, text string, wide float64) string {
	usual := broken(size, text, wide)
	joined := strings.NewReplacer("\n", " ").Replace
	for share := 0.5; share < 1; share += 0.05 {
		lines := broken(size, text, share*wide)
		if strings.Count(lines, "\n") == strings.Count(usual, "\n") && joined(lines) == joined(usual) {
			return lines
		}
	}
	return usual
}

package figures

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"
	"unicode"

	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// svgCanvas is vgsvg's canvas with a title, what the picture says for readers that do not see it, and the words of its points.
type svgCanvas struct {
	*vgsvg.Canvas
	title  string
	data   string // of the curves, for programs
	says   []string
	widths []string // of all texts, as they were measured
	points strings.Builder
}

// FillString draws text, and keeps it for the description if it has words.
func (c *svgCanvas) FillString(f plotfont.Face, at vg.Point, line string) {
	if strings.ContainsFunc(line, unicode.IsLetter) {
		c.says = append(c.says, line)
	}
	c.widths = append(c.widths, fmt.Sprintf(`<text textLength="%.2f" lengthAdjust="spacingAndGlyphs" `, f.Width(line).Points()))
	c.Canvas.FillString(f, at, line)
}

// svgUnder returns the SVG that a canvas draws on; nil if that is something else.
func svgUnder(c vg.Canvas) *svgCanvas {
	if part, ok := c.(draw.Canvas); ok {
		return svgUnder(part.Canvas)
	}
	svg, _ := c.(*svgCanvas)
	return svg
}

// say makes a point say words: when a pointer or the tab key is on it.
func (c *svgCanvas) say(at vg.Point, words string) {
	_, height := c.Size()
	fmt.Fprintf(&c.points, `<circle cx="%.2f" cy="%.2f" r="5" fill-opacity="0" tabindex="0" role="img"><title>%s</title></circle>`+"\n",
		at.X.Points(), (height - at.Y).Points(), html.EscapeString(words))
}

// WriteTo writes the file. Its ground makes the margins white, too, for readers with dark pages.
func (c *svgCanvas) WriteTo(w io.Writer) (int64, error) {
	var svg bytes.Buffer
	if _, err := c.Canvas.WriteTo(&svg); err != nil {
		return 0, err
	}
	first := fmt.Sprintf("<title>%s</title>\n<desc>%s</desc>\n<metadata>%s</metadata>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#FFFFFF\" />\n<g ",
		html.EscapeString(c.title), html.EscapeString(strings.Join(c.says, "; ")), c.data)
	whole := strings.Replace(svg.String(), "<g ", first, 1)
	for _, text := range c.widths { // whatever font a reader has
		whole = strings.Replace(whole, "<text x", text+"x", 1)
	}
	n, err := io.WriteString(w, fixSVG.Replace(strings.Replace(whole, "</svg>", c.points.String()+"</svg>", 1)))
	return int64(n), err
}

// fixSVG repairs what vgsvg writes: text names fonts of the same widths; bitmaps fill their rectangle and name their own type.
var fixSVG = strings.NewReplacer(
	"font-family:Liberation Serif;font-variant:normal;font-weight:normal;font-style:normal;",
	"font-family:'Liberation Serif','Times New Roman',Tinos,Times,serif;",
	"<image ", `<image preserveAspectRatio="none" `,
	"data:image/jpg;base64,iVBOR", "data:image/png;base64,iVBOR")

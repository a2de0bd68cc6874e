package figures

import (
	"bytes"
	"html"
	"io"
	"slices"
	"strings"

	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// pngCanvas is vgimg's canvas with text as outlines.
type pngCanvas struct{ vgimg.PngCanvas }

// FillString draws text whose first letter begins at a point on the base line.
func (c pngCanvas) FillString(f plotfont.Face, at vg.Point, line string) { fillLetters(c, f, at, line) }

// svgCanvas is vgsvg's canvas with text as outlines, and the text itself in the description, for readers that do not see.
type svgCanvas struct {
	*vgsvg.Canvas
	says []string
}

// FillString draws text whose first letter begins at a point on the base line. A line with letters that the font does not
// have is left to the fonts of the reader.
func (c *svgCanvas) FillString(f plotfont.Face, at vg.Point, line string) {
	if strings.TrimSpace(line) != "" {
		c.says = append(c.says, line)
	}
	letters, _ := lay(f, line)
	if slices.ContainsFunc(letters, func(l letter) bool { return l.glyph == 0 }) {
		c.Canvas.FillString(f, at, line)
		return
	}
	fillLetters(c, f, at, line)
}

// WriteTo writes the file.
func (c *svgCanvas) WriteTo(w io.Writer) (int64, error) {
	var svg bytes.Buffer
	if _, err := c.Canvas.WriteTo(&svg); err != nil {
		return 0, err
	}
	first := "<desc>" + html.EscapeString(strings.Join(c.says, "; ")) + "</desc>\n" + svgGround
	n, err := io.WriteString(w, fixSVG.Replace(strings.Replace(svg.String(), "<g ", first+"<g ", 1)))
	return int64(n), err
}

// svgGround makes the margins white, too, for readers with dark pages.
const svgGround = `<rect width="100%" height="100%" fill="#FFFFFF" />` + "\n"

// fixSVG repairs what vgsvg writes: text that is left to the reader's fonts names fonts of similar widths; bitmaps fill
// their rectangle and name their own type.
var fixSVG = strings.NewReplacer(
	"font-family:Liberation Serif;", "font-family:'Liberation Serif','Times New Roman',Tinos,Times,serif;",
	"<image ", `<image preserveAspectRatio="none" `,
	"data:image/jpg;base64,iVBOR", "data:image/png;base64,iVBOR")

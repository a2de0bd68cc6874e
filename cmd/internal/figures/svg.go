package figures

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"image/png"
	"strings"
	"unicode"
)

// svg writes a page whose text has words for readers that do not see it. Its ground makes the margins white, too, for readers with
// dark pages; whatever font a reader has, text is as wide as it was measured.
func (p *page) svg() ([]byte, error) {
	var out, says bytes.Buffer
	for _, s := range p.shapes {
		if strings.ContainsFunc(s.line, unicode.IsLetter) {
			fmt.Fprintf(&says, "%s; ", s.line)
		}
	}
	fmt.Fprintf(&out, `<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="%.2fpt" height="%.2fpt" viewBox="0 0 %.2[1]f %.2[2]f" font-family="'Liberation Serif','Times New Roman',Tinos,Times,'DejaVu Serif Condensed',serif">
<title>%[3]s</title>
<desc>%[4]s</desc>
<metadata>%[5]s</metadata>
<rect width="100%%" height="100%%" fill="#FFFFFF"/>
`, p.width, p.height, xmlText(p.title), xmlText(strings.TrimSuffix(says.String(), "; ")), legal(p.data))
	for _, s := range p.shapes {
		at := s.points[0]
		switch {
		case s.says != "":
			fmt.Fprintf(&out, `<circle cx="%.2f" cy="%.2f" r="5" fill-opacity="0" tabindex="0" role="img"><title>%s</title></circle>`+"\n", at.X, at.Y,
				xmlText(s.says))
		case s.image != nil:
			var file bytes.Buffer
			if err := png.Encode(&file, s.image); err != nil {
				return nil, err
			}
			fmt.Fprintf(&out, `<image preserveAspectRatio="none" x="%.2f" y="%.2f" width="%.2f" height="%.2f" xlink:href="data:image/png;base64,%s"/>`+"\n",
				at.X, at.Y, s.points[1].X-at.X, s.points[1].Y-at.Y, base64.StdEncoding.EncodeToString(file.Bytes()))
		case s.text != "":
			turn, wide := "", advance(s.text)*s.size
			if s.upward {
				at.Y -= s.align * wide
				turn = fmt.Sprintf(` transform="rotate(-90,%.2f,%.2f)"`, at.X, at.Y)
			} else {
				at.X += s.align * wide
			}
			fmt.Fprintf(&out, `<text textLength="%.2f" lengthAdjust="spacingAndGlyphs" text-anchor="%s" x="%.2f" y="%.2f" font-size="%.4g"%s>%s</text>`+"\n",
				wide, []string{"start", "middle", "end"}[int(2*s.align)], at.X, at.Y, s.size, turn, xmlText(s.text))
		default:
			out.WriteString(`<path d="`)
			for i, at := range s.points {
				fmt.Fprintf(&out, "%c%.2f,%.2f", "ML"[min(i, 1)], at.X, at.Y)
			}
			if s.width > 0 {
				fmt.Fprintf(&out, `" fill="none" stroke="%s" stroke-width="%.4g`, hex(s.colour), s.width)
			} else {
				fmt.Fprintf(&out, `z" fill="%s`, hex(s.colour))
			}
			if s.colour.A < 255 {
				fmt.Fprintf(&out, `" opacity="%.3g`, float64(s.colour.A)/255)
			}
			if s.dashes != nil {
				fmt.Fprintf(&out, `" stroke-dasharray="%s`, strings.Trim(fmt.Sprintf("%.4g", s.dashes), "[]"))
			}
			out.WriteString("\"/>\n")
		}
	}
	out.WriteString("</svg>\n")
	return out.Bytes(), nil
}

// xmlText returns a text as XML has it.
func xmlText(of string) string { return html.EscapeString(legal(of)) }

// legal replaces the characters that XML has no place for.
func legal(of string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' || r == 0xFFFE || r == 0xFFFF {
			return '\uFFFD'
		}
		return r
	}, of)
}

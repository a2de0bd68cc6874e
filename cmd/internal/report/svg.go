package report

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"html/template"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"mafalda/internal/files"
)

const maxPicture = 1 << 21 // bytes of a picture

// pictures inlines the drawings in a folder. One that cannot be read is named, not shown.
func (s *Section) pictures(dir string) error {
	for _, name := range (&Source{Dir: dir}).ending(".svg") {
		text, err := files.Read(filepath.Join(dir, name), maxPicture)
		if errors.Is(err, files.ErrTooLarge) {
			s.Warn("%s is not shown: it has more than %d MB", name, maxPicture>>20)
			continue
		}
		if err != nil {
			return err
		}
		picture, err := s.inline(name, text)
		if err != nil {
			s.Warn("%s is not shown: %v", name, err)
			continue
		}
		s.Figures = append(s.Figures, picture)
	}
	return nil
}

var errNoSVG = errors.New("it is no SVG")

// inline returns a drawing as it may stand in a page: nothing but what draws and what points say, no links, no scripts, and names
// that no other picture has. Its title is its own, or else the name of its file.
func (s *Section) inline(name string, svg []byte) (Picture, error) {
	s.pictured++
	d := xml.NewDecoder(bytes.NewReader(svg))
	d.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errors.New("it is not in UTF-8") }
	w := &svgWriter{prefix: fmt.Sprintf("%s-f%d-", s.ID, s.pictured)}
	for {
		token, err := d.Token()
		if err == nil {
			err = w.token(d, token)
		}
		switch {
		case errors.Is(err, io.EOF) && w.started && w.depth == 0:
			return Picture{Title: cmp.Or(w.title, name), SVG: template.HTML(w.out.String()), Name: name}, nil
		case errors.Is(err, io.EOF):
			return Picture{}, errNoSVG
		case err != nil:
			return Picture{}, fmt.Errorf("%w: %w", errNoSVG, err)
		}
	}
}

// svgWriter writes what draws.
type svgWriter struct {
	out     strings.Builder
	prefix  string // prefix of all names
	title   string // title of the whole drawing
	depth   int    // open elements
	started bool
}

func (w *svgWriter) token(d *xml.Decoder, token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		name := t.Name.Local
		switch {
		case name == "title" && w.depth == 1: // a reader would see it wherever the pointer is
			return d.DecodeElement(&w.title, &t)
		case !slices.Contains(drawing, name):
			return d.Skip()
		case w.started == (w.depth == 0) || (name == "svg") == w.started:
			return errNoSVG // one root, and it is svg
		}
		w.started = true
		w.depth++
		w.start(name, t.Attr)
	case xml.EndElement:
		w.depth--
		w.out.WriteString("</" + t.Name.Local + ">")
	case xml.CharData:
		if w.depth > 0 {
			w.out.WriteString(html.EscapeString(string(t)))
		}
	}
	return nil
}

func (w *svgWriter) start(name string, attributes []xml.Attr) {
	w.out.WriteString("<" + name)
	for _, a := range attributes {
		local, value := a.Name.Local, a.Value
		if name == "svg" && (local == "width" || local == "height" || local == "style") {
			continue // the page knows how wide it is
		}
		switch {
		case local == "id":
			value = w.prefix + value
		case local == "clip-path" && strings.HasPrefix(value, "url(#"):
			value = "url(#" + w.prefix + strings.TrimPrefix(value, "url(#")
		case local == "href":
			if name != "image" || !strings.HasPrefix(value, "data:image/png;base64,") {
				continue
			}
		case !slices.Contains(drawingAttributes, local) || strings.ContainsAny(value, `\@`) ||
			strings.Contains(strings.ToLower(value), "url("):
			continue
		}
		w.out.WriteString(` ` + local + `="` + html.EscapeString(value) + `"`)
	}
	w.out.WriteString(">")
}

// drawing are the elements that draw, and do nothing else; a title is what its parent says.
var drawing = strings.Fields("svg g path text tspan title rect image line polyline polygon circle ellipse defs clipPath")

var drawingAttributes = strings.Fields("d style transform x y dx dy width height viewBox preserveAspectRatio fill fill-opacity stroke " +
	"stroke-width stroke-dasharray opacity cx cy r rx ry x1 x2 y1 y2 points tabindex role textLength lengthAdjust font-size font-family font-weight text-anchor " +
	"dominant-baseline")

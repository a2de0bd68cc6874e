package report

import (
	"bytes"
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
		base := strings.TrimSuffix(name, ".svg")
		text, err := files.Read(filepath.Join(dir, name), maxPicture)
		if errors.Is(err, files.ErrTooLarge) {
			s.Warn("%s is not shown: it has more than %d MB", name, maxPicture>>20)
			continue
		}
		if err != nil {
			return err
		}
		svg, err := s.inline(text)
		if err != nil {
			s.Warn("%s is not shown: %v", name, err)
			continue
		}
		s.Figures = append(s.Figures, Picture{Caption: captions(base), SVG: svg, Name: name})
	}
	return nil
}

// captions says what a picture shows, by its name.
func captions(name string) string {
	for _, c := range [][2]string{
		{"matrices", "C and its inverse: blue is negative, red positive"},
		{"convergence", "How loss and lower bound approached each other"},
		{"errors", "The error of the models after every step"},
		{"spectrum", "Eigenvalues of the gossip matrix: how fast errors spread"},
		{"exposure", "What attackers learn, by the distance of the victim"},
		{"growth", "What an attacker learns a step, by the number of steps"},
		{"privacy-utility", "Test loss against ε"},
		{"loss-", "Test loss while training"},
		{"excess-", "Losses above the certified optimum"},
		{"sampling", "Secret batches: error against ε"},
		{"leakage", "What is learned, by distance or round"},
		{"error", "Distance from the average"},
		{"values", "Values while averaging"},
	} {
		if strings.HasPrefix(name, c[0]) {
			return c[1]
		}
	}
	return name
}

var errNoSVG = errors.New("it is no SVG")

// inline returns a drawing as it may stand in a page: nothing but what draws, no links, no scripts, and names that no
// other picture has.
func (s *Section) inline(svg []byte) (template.HTML, error) {
	s.pictured++
	d := xml.NewDecoder(bytes.NewReader(svg))
	d.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errors.New("it is not in UTF-8") }
	w := &svgWriter{prefix: fmt.Sprintf("%s-f%d-", s.ID, s.pictured)}
	for {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && w.started && len(w.open) == 0:
			return template.HTML(w.out.String()), nil
		case errors.Is(err, io.EOF):
			return "", errNoSVG
		case err != nil:
			return "", fmt.Errorf("%w: %w", errNoSVG, err)
		}
		if err := w.token(token); err != nil {
			return "", err
		}
		if start, ok := token.(xml.StartElement); ok && !drawing(start.Name.Local) {
			if err := d.Skip(); err != nil {
				return "", fmt.Errorf("%w: %w", errNoSVG, err)
			}
		}
	}
}

// svgWriter writes what draws.
type svgWriter struct {
	out     strings.Builder
	prefix  string // of names
	open    []string
	started bool
}

func (w *svgWriter) token(token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		name := t.Name.Local
		if !drawing(name) {
			return nil
		}
		if w.started == (len(w.open) == 0) || (name == "svg") == w.started {
			return errNoSVG // one root, and it is svg
		}
		w.started = true
		w.open = append(w.open, name)
		w.start(name, t.Attr)
	case xml.EndElement:
		if len(w.open) > 0 && drawing(t.Name.Local) {
			w.open = w.open[:len(w.open)-1]
			w.out.WriteString("</" + t.Name.Local + ">")
		}
	case xml.CharData:
		if len(w.open) > 0 {
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
		case !slices.Contains(drawingAttributes(), local) || strings.ContainsAny(value, `\@`) ||
			strings.Contains(strings.ToLower(value), "url("):
			continue
		}
		w.out.WriteString(` ` + local + `="` + html.EscapeString(value) + `"`)
	}
	if name == "svg" {
		w.out.WriteString(` role="img"`)
	}
	w.out.WriteString(">")
}

// drawing reports whether an element draws, and does nothing else.
func drawing(element string) bool {
	return slices.Contains([]string{"svg", "g", "path", "text", "tspan", "rect", "image", "line", "polyline", "polygon",
		"circle", "ellipse", "defs", "clipPath"}, element)
}

func drawingAttributes() []string {
	return []string{"d", "style", "transform", "x", "y", "dx", "dy", "width", "height", "viewBox", "preserveAspectRatio",
		"fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "cx", "cy", "r", "rx", "ry", "x1",
		"x2", "y1", "y2", "points", "font-size", "font-family", "font-weight", "text-anchor", "dominant-baseline"}
}

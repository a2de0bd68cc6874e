// Package figures draws the program's pictures: as PNG, SVG or PDF, by the ending of the file.
package figures

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
)

// Style says what figures look like. Zero values are the usual ones.
type Style struct {
	Width   float64 // inches
	Letters float64 // points: their size
	Bare    bool    // the title is left out: a caption says it
}

const (
	usualWidth, usualLetters = 7, 10
	inch                     = 72       // points
	narrow                   = 5 * inch // below, panels are below each other
	margin                   = 0.6      // around a figure, relative to the letters
	wider                    = 1.2      // letters of readers without the font, relative to its own: text leaves room
)

// Figure is a picture of panels.
type Figure struct {
	title  string
	panels []*panel
	beside bool // panels are beside each other, where there is room
	// foot draws what stands below all panels, and returns its bottom; nil: nothing
	foot func(p *page, left, top, wide float64) (bottom float64)
}

// Title is what the figure shows.
func (f *Figure) Title() string { return f.title }

// Named is a figure and the name of its files, without an ending.
type Named struct {
	Name   string
	Figure *Figure
}

// Pictures are figures with their names, as far as they could be made.
type Pictures struct {
	All []Named
	Err error // the first one of making a figure
}

// Add returns what adds a figure of this name, unless it is nil, or its error.
func (p *Pictures) Add(name string) func(*Figure, error) {
	return func(f *Figure, err error) {
		if p.Err = cmp.Or(p.Err, err); err == nil && f != nil {
			p.All = append(p.All, Named{name, f})
		}
	}
}

// Formats are the file endings that WriteAs knows.
func Formats() []string { return []string{".png", ".svg", ".pdf"} }

// WriteAs writes the figure in the format that the name ends in.
func (f *Figure) WriteAs(w io.Writer, name string, s Style) error {
	ext := filepath.Ext(name)
	at := slices.Index(Formats(), ext)
	if at < 0 {
		return fmt.Errorf("figure format %q: must be .png, .svg or .pdf", ext)
	}
	p, err := f.page(s)
	if err != nil {
		return fmt.Errorf("drawing %s: %w", filepath.Base(name), err)
	}
	file, err := []func() ([]byte, error){p.png, p.svg, p.pdf}[at]()
	if err == nil {
		_, err = w.Write(file)
	}
	return err
}

// page draws the figure.
func (f *Figure) page(s Style) (*page, error) {
	data, err := f.data()
	p := &page{title: f.title, data: data, em: cmp.Or(s.Letters, usualLetters), width: inch * cmp.Or(s.Width, usualWidth)}
	edge := margin * p.em
	top, wide := edge, p.width-2*edge
	if !s.Bare {
		top = p.paragraph(p.width/2, top, wide/wider, 1.1*p.em, f.title) + edge
	}
	if gaps := float64(len(f.panels) - 1); f.beside && p.width >= narrow {
		left, bottom := edge, top
		each := (wide - gaps*2*edge) / (gaps + 1)
		titles := 0.0
		for _, l := range f.panels {
			titles = max(titles, l.titleTall(p.em, each))
		}
		for _, l := range f.panels { // titles end, and frames begin, beside each other
			bottom = max(bottom, l.drawOn(p, left, top+titles-l.titleTall(p.em, each), each))
			left += each + 2*edge
		}
		top = bottom
	} else {
		for i, l := range f.panels {
			if i > 0 {
				top += 1.5 * edge
			}
			top = l.drawOn(p, edge, top, wide)
		}
	}
	if f.foot != nil {
		top = f.foot(p, edge, top+edge, wide)
	}
	p.height = top + edge
	return p, err
}

package report

import (
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"

	"mafalda/internal/version"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

// Report is the content of a page.
type Report struct {
	Title    string
	Sections []*Section
}

// Section is what there is to say about a folder. What does not apply is empty.
type Section struct {
	ID, Kind, Title string
	Lead            string    // a sentence: what this folder is
	Summary         []Field   // the few numbers that matter, for the top of the page
	Warnings        []string  // what a reader must know first
	Asked           []Field   // what was asked
	Certified       []string  // sentences
	NotCovered      []string  // what these do not say
	Tables          []Table   //
	Charts          []Picture // with points that say their numbers
	Matrices        *Matrices // entries to look at
	Map             *Map      // nodes to choose
	Figures         []Picture // of the folder, or drawn of it
	Commands        []Command // that make it again
	Hashes          []Field   // of files

	pictured int // pictures so far
}

// OnlyStill reports whether all pictures are there for paper alone.
func (s *Section) OnlyStill() bool {
	return !slices.ContainsFunc(s.Figures, func(p Picture) bool { return !p.Still })
}

// Field is a name with its value.
type Field struct{ Name, Value string }

// Table is text in rows; all columns but the first Words ones are numbers.
type Table struct {
	Caption string
	Header  []string
	Words   int
	Rows    [][]string
}

// Picture is a drawing that is safe to inline.
type Picture struct {
	Caption string
	SVG     template.HTML
	Still   bool // on the screen, a part that moves takes its place
	Name    string
	Legend  []Mark // of a chart
}

// Mark is a series of a chart and its colour, 0 to 6.
type Mark struct {
	Name   string
	Colour int
}

// Command is what to type, and what has to be known of it.
type Command struct{ Line, Note string }

// data is what the script reads.
type data struct {
	Matrices []*Matrices `json:"matrices"`
	Maps     []*Map      `json:"maps"`
}

// Write writes the page.
func (r *Report) Write(w io.Writer) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"number": func(t Table, column int) bool { return column >= t.Words },
	}).Parse(pageHTML)
	if err != nil {
		return fmt.Errorf("the page: %w", err)
	}
	d := data{Matrices: []*Matrices{}, Maps: []*Map{}}
	for _, s := range r.Sections {
		if s.Matrices != nil {
			d.Matrices = append(d.Matrices, s.Matrices)
		}
		if s.Map != nil {
			d.Maps = append(d.Maps, s.Map)
		}
	}
	sum := sha256.Sum256([]byte(pageJS))
	return t.Execute(w, map[string]any{"Report": r, "Data": d, "Style": template.CSS(pageCSS),
		"Script": template.JS(pageJS), "Version": version.String(),
		"ScriptHash": base64.StdEncoding.EncodeToString(sum[:])})
}

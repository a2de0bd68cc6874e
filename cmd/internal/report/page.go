package report

import (
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"

	"mafalda/cmd/internal/document"
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

// Section is a document, with what is in its folder. What does not apply is empty.
type Section struct {
	*document.Document

	ID, Title string
	Answer    string          // what a plan promises
	Questions []document.Fact // questions with their answers
	Contract  []string        // what a node has to do
	Matrices  *Matrices       // entries to look at
	Map       *Map            // nodes to choose
	Figures   []Picture       // figures in the folder, or drawn from it
	Commands  []Command       // commands that make it again
	Hashes    []document.Fact

	pictured int // pictures so far
}

// Map is a map on a page.
type Map struct {
	ID string `json:"id"`
	*document.Map
}

// Asked returns the facts.
func (s *Section) Asked() (facts []document.Fact) {
	for _, b := range s.Blocks {
		facts = append(facts, b.Facts...)
	}
	return facts
}

// Tables returns the tables.
func (s *Section) Tables() (tables []document.Table) {
	for _, b := range s.Blocks {
		if b.Table != nil {
			tables = append(tables, *b.Table)
		}
	}
	return tables
}

// OnlyStill reports whether all pictures are there for paper alone.
func (s *Section) OnlyStill() bool {
	return !slices.ContainsFunc(s.Figures, func(p Picture) bool { return !p.Still })
}

// Picture is a drawing that is safe to inline.
type Picture struct {
	Title string
	SVG   template.HTML
	Still bool // a moving part takes its place on the screen
	Name  string
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
		"number": func(t document.Table, column int) bool { return column >= t.Words },
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

package document

import (
	"encoding/json"
	"fmt"
	"io"

	"mafalda/internal/version"
)

// FileName is the name of a document in a folder of results.
const FileName = "document.json"

// WhatItIs is the name that a summary begins with.
const WhatItIs = "what it is"

// Document is what a result says. Every number in it is text that has been rounded to the safe side, or data for a picture that
// has.
type Document struct {
	Kind    string `json:"kind"`    // kind of the result: account, simulation, …
	Version string `json:"version"` // version of the program
	Lead    string `json:"lead"`    // a sentence: what this is

	Summary    []Fact   `json:"summary,omitempty"`     // the few numbers that matter, for the top of a page
	Warnings   []string `json:"warnings,omitempty"`    // what a reader must know first
	Blocks     []Block  `json:"blocks"`                // facts and tables, in the order in which they are read
	Certified  []string `json:"certified,omitempty"`   // sentences
	NotCovered []string `json:"not_covered,omitempty"` // what these do not say
	Map        *Map     `json:"map,omitempty"`         // nodes to choose
	Cells      int      `json:"cells,omitempty"`       // number of the grid's cells that it is about

	width int // width of the column of names on a terminal; 0 means nameWidth
}

// Block is a list of facts, a line of text or a table.
type Block struct {
	Facts []Fact `json:"facts,omitempty"`
	Text  string `json:"text,omitempty"`
	Table *Table `json:"table,omitempty"`
}

// Fact is a name with what is said of it. Several lines are lines on a terminal, and a paragraph on a page.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`

	Secret string `json:"-"` // text behind the value on the terminal of the command, and nowhere else
}

// Table is text in rows; all columns but the first Words ones are numbers.
type Table struct {
	Caption string     `json:"caption"` // caption on a page
	Header  []string   `json:"header"`
	Words   int        `json:"words"`
	Rows    [][]string `json:"rows"`
}

// New returns the document of a kind of result, by this version of the program.
func New(kind, lead string) *Document {
	return &Document{Kind: kind, Version: version.String(), Lead: lead, Blocks: []Block{}}
}

// Fact adds a fact to the list that comes last, or begins a list.
func (d *Document) Fact(name, format string, args ...any) {
	if n := len(d.Blocks); n == 0 || d.Blocks[n-1].Facts == nil {
		d.Blocks = append(d.Blocks, Block{})
	}
	last := &d.Blocks[len(d.Blocks)-1]
	last.Facts = append(last.Facts, Fact{Name: name, Value: fmt.Sprintf(format, args...)})
}

// Table adds a table, unless it has no rows.
func (d *Document) Table(t Table) {
	if len(t.Rows) > 0 {
		d.Blocks = append(d.Blocks, Block{Table: &t})
	}
}

// Summarize adds to the summary.
func (d *Document) Summarize(name, format string, args ...any) {
	d.Summary = append(d.Summary, Fact{Name: name, Value: fmt.Sprintf(format, args...)})
}

// Warn adds a warning.
func (d *Document) Warn(format string, args ...any) {
	d.Warnings = append(d.Warnings, fmt.Sprintf(format, args...))
}

// JSON writes the document as JSON.
func (d *Document) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(d)
}

// Check returns an error unless the parts of a document that was read fit together.
func (d *Document) Check() error {
	for _, b := range d.Blocks {
		if b.Table == nil {
			continue
		}
		for _, row := range b.Table.Rows {
			if len(row) != len(b.Table.Header) {
				return fmt.Errorf("the table %.60q has %d columns and a row with %d", b.Table.Caption, len(b.Table.Header), len(row))
			}
		}
	}
	if d.Map == nil {
		return nil
	}
	return d.Map.check()
}

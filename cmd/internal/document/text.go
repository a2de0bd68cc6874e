package document

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"mafalda/cmd/internal/terminal"
)

const nameWidth = 15 // of the column of names

// Text writes facts and tables for a terminal, with an empty line around each table but after a line of text.
func (d *Document) Text(w io.Writer) error {
	for i, b := range d.Blocks {
		if i > 0 && (b.Table == nil || d.Blocks[i-1].Text == "") {
			fmt.Fprintln(w)
		}
		if b.Text != "" {
			fmt.Fprintln(w, b.Text)
		}
		for _, f := range b.Facts {
			f.write(w, cmp.Or(d.width, nameWidth))
		}
		if b.Table != nil {
			if err := b.Table.write(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes a fact: the name, and its lines below each other.
func (f Fact) write(w io.Writer, width int) {
	name := f.Name
	for line := range strings.SplitSeq(f.Value+f.Secret, "\n") {
		gap := max(1, width-utf8.RuneCountInString(name))
		fmt.Fprintf(w, "%s%s%s\n", name, strings.Repeat(" ", gap), line)
		name = ""
	}
}

func (t *Table) write(w io.Writer) error {
	if t.Words > 1 && slices.ContainsFunc(t.Rows, func(r []string) bool { return len(r) == t.Words }) {
		return terminal.TextTable(w, t.Header, t.Rows)
	}
	return terminal.Table(w, t.Header, t.Rows)
}

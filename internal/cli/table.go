package cli

import (
	"io"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"
)

// Table renders rows with the first column left-aligned and the others, which hold numbers, to the right.
func Table(w io.Writer, header []string, rows [][]string) error {
	return renderTable(w, header, rows, tw.AlignRight)
}

// TextTable renders rows of words.
func TextTable(w io.Writer, header []string, rows [][]string) error {
	return renderTable(w, header, rows, tw.AlignLeft)
}

func renderTable(w io.Writer, header []string, rows [][]string, others tw.Align) error {
	align := make([]tw.Align, len(header))
	for i := range align {
		align[i] = others
	}
	align[0] = tw.AlignLeft
	t := tablewriter.NewTable(w, tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: align}),
		tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: align}),
		tablewriter.WithSymbols(tw.NewSymbols(tw.StyleLight)))
	t.Header(header)
	for _, r := range rows {
		if err := t.Append(r); err != nil {
			return err
		}
	}
	return t.Render()
}

package commands

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/files"
	"mafalda/internal/parallel"
	"mafalda/study"
)

// outcome is what a command has found: it is printed and, with -o, written to a folder with tables and pictures.
type outcome struct {
	name     string // name of the file of data in the folder
	data     any    // data that --json prints
	says     *document.Document
	tables   []study.File
	pictures func(ctx context.Context) (figures.Pictures, error) // nil: none
	style    figures.Style
}

// finish writes and prints an outcome. It is printed, too, if its pictures cannot be made.
func (o outcome) finish(cmd *cobra.Command, runner *grids.Runner, to *terminal.Output, bar *terminal.Progress) error {
	show := func() error { return to.Show(cmd, o.data, o.printed(to.Dir)) }
	if to.Dir == "" {
		return show()
	}
	for _, t := range o.tables {
		if err := files.WriteFile(filepath.Join(to.Dir, t.Name), t.Write, to.Force); err != nil {
			return terminal.UsageIfExists(err)
		}
	}
	if err := results.WriteResult(to.Dir, o.name, runner.CommandOf(cmd), o.data, o.says, to.Force); err != nil {
		return err
	}
	var drawing error
	if o.pictures != nil {
		pictures, err := parallel.Abandonable(cmd.Context(), o.pictures)
		bar.Clear()
		if err == nil {
			_, err = results.WritePictures(to.Dir, pictures, to.Force, o.style)
		}
		if err != nil {
			drawing = fmt.Errorf("drawing (the result is written): %w", err)
		}
	}
	return cmp.Or(show(), drawing)
}

// printed returns what prints the document, and where it is written.
func (o outcome) printed(dir string) func(w io.Writer) error {
	return func(w io.Writer) error {
		if err := o.says.Text(w); err != nil || dir == "" {
			return err
		}
		_, err := fmt.Fprintf(w, "\nwritten        %s\n", dir)
		return err
	}
}

// sayWritten prints the paths of what is written.
func sayWritten(w io.Writer, paths []string) error {
	for _, path := range paths {
		if _, err := fmt.Fprintf(w, "written  %s\n", path); err != nil {
			return err
		}
	}
	return nil
}

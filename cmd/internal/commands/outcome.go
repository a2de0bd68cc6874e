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
	data     any // data that --json prints
	says     *document.Document
	tables   []study.File
	pictures func(ctx context.Context) (figures.Pictures, error) // nil: none
}

// outcomeFlags say where an outcome goes.
type outcomeFlags struct {
	runner *grids.Runner
	style  figures.Style
	terminal.Output
}

// produce finds an outcome, writes it under a name and prints it. Before that it finds out whether the folder has room for the
// name and the pictures that are always there. An outcome is printed, too, if its pictures cannot be made.
func (f *outcomeFlags) produce(cmd *cobra.Command, name string, pictures []string,
	find func(ctx context.Context, bar *terminal.Progress) (outcome, error)) (err error) {
	name += ".json"
	if err := results.CheckFolder(f.Dir, name, f.Force, pictures...); err != nil {
		return err
	}
	defer func() { results.RemoveIfEmpty(f.Dir, err) }()
	bar := f.Progress(cmd)
	o, err := parallel.Abandonable(cmd.Context(), func(ctx context.Context) (outcome, error) { return find(ctx, bar) })
	bar.Clear()
	if err != nil {
		return err
	}
	show := func() error { return f.Show(cmd, o.data, o.printed(f.Dir)) }
	if f.Dir == "" {
		return show()
	}
	for _, t := range o.tables {
		if err := files.WriteFile(filepath.Join(f.Dir, t.Name), t.Write, f.Force); err != nil {
			return terminal.UsageIfExists(err)
		}
	}
	if err := results.WriteResult(f.Dir, name, f.runner.CommandOf(cmd), o.data, o.says, f.Force); err != nil {
		return err
	}
	var drawing error
	if o.pictures != nil {
		pictures, err := parallel.Abandonable(cmd.Context(), o.pictures)
		bar.Clear()
		if err == nil {
			_, err = results.WritePictures(f.Dir, pictures, f.Force, f.style)
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

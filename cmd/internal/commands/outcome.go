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
	if f.Dir == "" {
		return f.show(cmd, o.data, o.says)
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
	return cmp.Or(f.show(cmd, o.data, o.says), drawing)
}

// show prints a result: as JSON, or in words, with the folder that it is in.
func (f *outcomeFlags) show(cmd *cobra.Command, data any, says *document.Document) error {
	if f.Dir != "" {
		says.Blocks = append(says.Blocks, document.Block{Facts: []document.Fact{}})
		says.Fact("written", "%s", f.Dir)
	}
	return f.Show(cmd, data, says.Text)
}

// gridFlags are the flags of a command whose cells may be computed in shards.
type gridFlags struct {
	outcomeFlags
	shard grids.ShardFlags
}

// runGrid computes the cells of a study, or the part of a shard, into the folder; if they are whole, there is something to show.
func runGrid[C, R any](f *gridFlags, cmd *cobra.Command, s grids.Study[C, R], bar *terminal.Progress) (all []R, whole bool, err error) {
	s.Dir, s.Force, s.Shard, s.Command = f.Dir, f.Force, &f.shard, cmd
	return s.Run(cmd.Context(), f.runner, bar)
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

package commands

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/report"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/files"
)

type reportFlags struct {
	out, title string
	force      bool
}

func (f *reportFlags) run(cmd *cobra.Command) error {
	ctx, dirs := cmd.Context(), cmd.Flags().Args()
	if _, err := os.Lstat(f.out); err == nil && !f.force {
		return terminal.Usage(&files.ExistsError{Path: f.out})
	}
	if err := results.RefuseExport(filepath.Dir(f.out)); err != nil {
		return err
	}
	bar := terminal.NewProgress(cmd.ErrOrStderr(), false)
	defer bar.Clear()
	bar.Busy("making a report of " + terminal.Count(len(dirs), "folder"))
	r, err := report.Make(ctx, dirs, f.title)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return terminal.Usage(err)
	}
	if err := files.WriteFile(f.out, r.Write, f.force); err != nil {
		return terminal.UsageIfExists(err)
	}
	page, err := os.Stat(f.out)
	if err != nil {
		return err
	}
	bar.Clear()
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "written  %s: %s, %s\n", f.out, terminal.Count(len(r.Sections), "folder"),
		terminal.BytesText(float64(page.Size())))
	return err
}

package commands

import (
	"bytes"
	"fmt"
	"io"
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

func newReportCmd() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report DIR...",
		Short: "Make one HTML file of results, to look at and to pass on",
		Long: `Make one HTML file of folders that were written with -o, in the order given: exports, accounts, simulations,
benchmarks, comparisons of secret batches, averages, audits of trainings, and pictures of mafalda plot. The file needs nothing but a
browser, and asks nobody for anything: pictures, numbers, style and script are inside.

It says what was asked, what is certified and what that does not cover, and how to make it again, with the SHA-256 of every
file. Entries of C and its inverse can be read; on a map of the network an attacker is chosen, with mouse or keyboard, to see
who leaks how much to it. Nothing is computed or verified: mafalda verify does that.`,
		Example: `  mafalda report out -o report.html
  mafalda report out account simulation -o report.html
  mafalda plot out --graph ego.edges -o pictures && mafalda report out pictures -o report.html --force`,
		Args: terminal.SomeArgs("one folder or more"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "output", "o", "report.html", "write the report to this `file`")
	fl.StringVar(&f.title, "title", "", "of the report (default: the names of the folders)")
	fl.BoolVar(&f.force, "force", false, "replace a file that is there")
	return cmd
}

func (f *reportFlags) run(cmd *cobra.Command, dirs []string) error {
	ctx, stop := terminal.Interruptible(cmd.Context())
	defer stop()
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
	var page bytes.Buffer
	if err := r.Write(&page); err != nil {
		return err
	}
	size := page.Len()
	write := func(w io.Writer) error {
		_, err := page.WriteTo(w)
		return err
	}
	if err := files.WriteFile(f.out, write, f.force); err != nil {
		return terminal.UsageIfExists(err)
	}
	bar.Clear()
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "written  %s: %s, %s\n", f.out, terminal.Count(len(r.Sections), "folder"),
		terminal.BytesText(float64(size)))
	return err
}

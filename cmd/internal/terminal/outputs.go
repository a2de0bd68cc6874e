package terminal

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Output are the flags that say where a result goes, and how much is printed.
type Output struct {
	Dir                string // the folder to write to; empty for none
	Force, JSON, Quiet bool
}

// Bind binds --output, whose default is Dir, --force, --json and --quiet, with what the first three of them do.
func (o *Output) Bind(cmd *cobra.Command, output, force, json string) {
	fl := cmd.Flags()
	fl.StringVarP(&o.Dir, "output", "o", o.Dir, output)
	fl.BoolVar(&o.Force, "force", false, force)
	fl.BoolVar(&o.JSON, "json", false, json)
	fl.BoolVarP(&o.Quiet, "quiet", "q", false, "print errors only (and the JSON, with --json)")
}

// Note prints lines that a user should know, unless nothing is to be printed.
func (o *Output) Note(cmd *cobra.Command) func(lines ...string) {
	return func(lines ...string) {
		for _, line := range lines {
			if !o.Quiet {
				fmt.Fprintln(cmd.ErrOrStderr(), line)
			}
		}
	}
}

// Progress returns a bar, which shows nothing where nothing is to be printed.
func (o *Output) Progress(cmd *cobra.Command) *Progress {
	return NewProgress(cmd.ErrOrStderr(), o.Quiet)
}

// Show prints a result: as JSON, as its text, or not at all.
func (o *Output) Show(cmd *cobra.Command, data any, text func(w io.Writer) error) error {
	switch {
	case o.JSON:
		return WriteJSON(cmd.OutOrStdout(), data)
	case o.Quiet:
		return nil
	}
	return text(cmd.OutOrStdout())
}

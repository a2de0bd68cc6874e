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

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"mafalda/internal/limits"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitFailed      = 1   // the computation or the writing failed, or a check did not hold
	exitUsage       = 2   // flags or input
	exitInterrupted = 130 // Ctrl-C
)

// usageError is an error of flags or input; everything else is a failure to compute or to write.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// usage marks err, if it is one, as an error of flags or input.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errInterrupted ends a command that Ctrl-C stopped.
var errInterrupted = errors.New("interrupted")

// execute runs a program's root command and returns the exit code. Errors go to stderr as one line.
func execute(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer) int {
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%s (see '%s --help')", flagText(err), cmd.CommandPath())
	})
	var profiles profiling
	profiles.bind(root)
	root.SetArgs(args)
	out := &checkedWriter{w: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	err := errors.Join(root.ExecuteContext(ctx), profiles.stop())
	if err == nil && out.err != nil {
		err = fmt.Errorf("writing the output: %w", out.err)
	}
	if err == nil {
		return 0
	}
	if errors.Is(err, context.Canceled) && !errors.Is(err, errInterrupted) {
		err = errInterrupted // who has something to say of what is kept has said it
	}
	fmt.Fprintf(stderr, "%s: %s\n", root.Name(), strings.ReplaceAll(err.Error(), "\n", "; "))
	var u usageError
	switch {
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.As(err, &u) || errors.Is(err, limits.ErrMemory):
		return exitUsage
	}
	return exitFailed
}

// checkedWriter remembers that something could not be written, so that nobody takes half an output for a whole one.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	if err != nil && c.err == nil {
		c.err = err
	}
	return n, err
}

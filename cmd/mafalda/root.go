package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/internal/limits"
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

// run executes the command line and returns the exit code. Errors go to stderr as one line.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRootCmd()
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
	fmt.Fprintf(stderr, "mafalda: %s\n", strings.ReplaceAll(hinted(err), "\n", "; "))
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

func newRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:   "mafalda",
		Short: "Optimal noise correlations for differentially private decentralized learning",
		Long: `mafalda computes how the nodes of a network should correlate their privacy noise over time, proves how close to
optimal the result is, and exports it for the nodes to load. Whole numbers may be written 1e6.`,
		Example: `  mafalda optimize --graph florentine --T 380 -o out
  mafalda verify out
  mafalda graph barabasi:1000,3
  mafalda epsilon --mu 1 --delta 1e-6`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%s (see '%s --help')", flagText(err), cmd.CommandPath())
	})
	root.AddCommand(newOptimizeCmd(), newVerifyCmd(), newBenchmarkCmd(), newBenchSelfCmd(), newPlotCmd(), newAccountCmd(), newAuditCmd(), newNoiseCmd(), newSimulateCmd(), newAverageCmd(), newPartPSPCmd(), newGraphCmd(), newEpsilonCmd(), newVersionCmd())
	return root
}

// flagText says what is wrong with a number without naming the function that found out.
func flagText(err error) string {
	text, reason, _ := strings.Cut(err.Error(), ": strconv.")
	switch {
	case reason != "" && strings.HasSuffix(reason, "value out of range"):
		return text + ": is too large a number"
	case strings.HasPrefix(reason, "ParseBool"):
		return text + ": must be true or false"
	case strings.HasPrefix(reason, "ParseFloat"):
		return text + ": must be a number"
	case strings.HasPrefix(reason, "ParseInt"):
		return text + ": must be a whole number"
	case strings.HasPrefix(reason, "ParseUint"):
		return text + ": must be a whole number, zero or more"
	}
	return err.Error()
}

// noArgs and exactArgs are cobra's, with errors of usage.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unknown argument %q (see '%s --help')", args[0], cmd.CommandPath())
	}
	return nil
}

func exactArgs(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%s needs %s (see '%s --help')", cmd.CommandPath(), what, cmd.CommandPath())
		}
		return nil
	}
}

// completeWith offers fixed words for the value of a flag.
func completeWith(cmd *cobra.Command, flag string, words []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // a flag that does not exist
	}
}

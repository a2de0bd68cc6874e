package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mafalda/internal/fault"
	"mafalda/internal/limits"
)

// Exit codes.
const (
	exitFailed      = 1   // the computation or the writing failed, or a check did not hold
	ExitUsage       = 2   // flags or input
	ExitInterrupted = 130 // Ctrl-C
)

// usageError is an error of flags or input; everything else is a failure to compute or to write.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Usage marks err, if it is one, as an error of flags or input.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// ErrInterrupted ends a command that Ctrl-C stopped.
var ErrInterrupted = errors.New("interrupted")

// Explainer says what an error of a command is, in the words of the program's flags, and reports whether flags or input have to
// be changed.
type Explainer func(cmd *cobra.Command, err error) (text string, usage bool)

// Run runs a program's root command and returns the exit code. Errors go to stderr as one line, the one of explain.
func Run(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer, explain Explainer) int {
	var profiles profiling
	profiles.bind(root)
	var from caller
	from.bind(root)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		return errors.Join(from.start(cmd), Usage(profiles.start()))
	}
	defer from.end()
	WrapHelp(root, stdout)
	stdout, end := wrappingWriter(stdout)
	stderr, endErrors := wrappingWriter(stderr)
	defer endErrors()
	cmd, err := execute(ctx, root, args, stdout, stderr)
	unwritten := end()
	err = errors.Join(err, profiles.stop())
	if err == nil && unwritten != nil {
		err = fmt.Errorf("writing the output: %w", unwritten)
	}
	if err == nil {
		return 0
	}
	if errors.Is(err, context.Canceled) && !errors.Is(err, ErrInterrupted) {
		err = ErrInterrupted // who has something to say of what is kept has said it
	}
	said, usage := explained(cmd, err, explain)
	fmt.Fprintf(stderr, "%s: %s\n", root.Name(), strings.ReplaceAll(said, "\n", "; "))
	switch {
	case errors.Is(err, ErrInterrupted):
		return ExitInterrupted
	case usage:
		return ExitUsage
	}
	return exitFailed
}

// execute runs a command line of a root command, and returns the command that it is of.
func execute(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer) (*cobra.Command, error) {
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if errors.Is(err, pflag.ErrHelp) {
			return pflag.ErrHelp
		}
		_, rest, _ := root.Find(args)
		if cmd.HasAvailableSubCommands() && cmd.Use == cmd.Name() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
			return NoArgs(cmd, rest) // a flag of an unknown command
		}
		return Usagef("%s (see '%s --help')", flagError(cmd, err, args), cmd.CommandPath())
	})
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	strict(root)
	return root.ExecuteContextC(ctx)
}

// explained returns the text of explain, and adds the value that may have been meant.
func explained(cmd *cobra.Command, err error, explain Explainer) (text string, usage bool) {
	if text, usage = explain(cmd, err); usage {
		text += valueMeant(cmd, text)
	}
	return text, usage
}

// Nested runs another command line of the program inside one of its commands. The error says what that command would,
// of its own flags.
func Nested(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer, explain Explainer) error {
	cmd, err := execute(ctx, root, args, stdout, stderr)
	if err == nil || errors.Is(err, ErrInterrupted) || errors.Is(err, context.Canceled) {
		return err
	}
	text, usage := explained(cmd, err, explain)
	if usage {
		return Usage(errors.New(text))
	}
	return errors.New(text)
}

// IsUsage reports whether an error is marked as one of flags or input, or is about a bad argument of a library.
func IsUsage(err error) bool {
	_, marked := errors.AsType[usageError](err)
	_, argument := errors.AsType[*fault.Argument](err)
	return marked || argument || errors.Is(err, limits.ErrMemory)
}

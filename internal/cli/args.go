package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

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

// NoArgs is cobra's, with an error of usage.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("unknown argument %q (see '%s --help')", args[0], cmd.CommandPath())
	}
	return nil
}

func ExactArgs(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return Usagef("%s needs %s (see '%s --help')", cmd.CommandPath(), what, cmd.CommandPath())
		}
		return nil
	}
}

// CompleteWith offers fixed words for the value of a flag.
func CompleteWith(cmd *cobra.Command, flag string, words []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // a flag that does not exist
	}
}

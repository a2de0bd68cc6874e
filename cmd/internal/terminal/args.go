package terminal

import (
	"math"
	"os"
	"slices"
	"strconv"
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
	if len(args) == 0 {
		return nil
	}
	if cmd.HasAvailableSubCommands() {
		return Usagef("unknown command %q%s (see '%s --help')", args[0], commandMeant(cmd, args[0]), cmd.CommandPath())
	}
	return Usagef("unknown argument %q (see '%s --help')", args[0], cmd.CommandPath())
}

// strict makes the commands that cobra adds refuse words that mean nothing to them: shells, and commands that there are
// not. It comes after SetOut, which the completion command looks at when it is made; its scripts are never wrapped.
func strict(root *cobra.Command) {
	out := root.OutOrStdout()
	root.SetOut(Verbatim(out))
	root.InitDefaultCompletionCmd()
	root.SetOut(out)
	if completion, _, err := root.Find([]string{"completion"}); err == nil && completion != root {
		completion.Args = NoArgs
		completion.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		for _, shell := range completion.Commands() {
			shell.Args = NoArgs
		}
	}
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil && help != root {
		help.Args = func(_ *cobra.Command, args []string) error {
			about, rest, err := root.Find(args)
			if err != nil {
				return Usage(err)
			}
			return NoArgs(about, rest)
		}
	}
}

// commandMeant asks for the command that may have been meant: one of this name within another, or the nearest.
func commandMeant(cmd *cobra.Command, word string) string {
	var names []string
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		if slices.ContainsFunc(c.Commands(), func(sub *cobra.Command) bool { return sub.Name() == word }) {
			return "; did you mean " + c.Name() + " " + word + "?"
		}
		names = append(names, c.Name())
	}
	return DidYouMean(word, names)
}

func ExactArgs(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return Usagef("%s needs %s (see '%s --help')", cmd.CommandPath(), what, cmd.CommandPath())
		}
		return nil
	}
}

// SomeArgs is cobra's MinimumNArgs(1), with an error of usage.
func SomeArgs(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return ExactArgs(1, what)(cmd, args)
		}
		return nil
	}
}

// Refuse fails for the first of these flags that is given. The message has a %s for its name.
func Refuse(cmd *cobra.Command, message string, flags ...string) error {
	if i := slices.IndexFunc(flags, cmd.Flags().Changed); i >= 0 {
		return Usagef(message, flags[i])
	}
	return nil
}

// AtLeastOne fails for the first of these flags that is given a WholeNumber below 1, which may stand for a default in a
// library.
func AtLeastOne(cmd *cobra.Command, flags ...string) error {
	for _, name := range flags {
		if f := cmd.Flags().Lookup(name); f.Changed && *kindOf(f).(*WholeNumber) < 1 {
			return Usagef("--%s %v: must be at least 1", name, kindOf(f))
		}
	}
	return nil
}

// Positive fails for the first of these flags that is given a number that is not positive and finite.
func Positive(cmd *cobra.Command, flags ...string) error {
	for _, name := range flags {
		v, err := strconv.ParseFloat(kindOf(cmd.Flags().Lookup(name)).String(), 64)
		if err != nil {
			panic(err) // no flag of a number
		}
		if Given(cmd, name) && (!(v > 0) || math.IsInf(v, 1)) {
			return Usagef("--%s %v: must be positive and finite", name, v)
		}
	}
	return nil
}

// Complete offers words for the value of a flag. It tells cobra, which keeps them and their command for ever, only in a
// process that a shell asks for them: in another one every command line would stay in memory.
func Complete(cmd *cobra.Command, flag string, words cobra.CompletionFunc) {
	if len(os.Args) < 2 || !strings.HasPrefix(os.Args[1], cobra.ShellCompRequestCmd) {
		return
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, words); err != nil {
		panic(err) // a flag that does not exist
	}
}

// ChoiceVar is StringVar of a command's flags for one of some words, which it offers.
func ChoiceVar(cmd *cobra.Command, p *string, name, value string, words []string, usage string) {
	cmd.Flags().StringVar(p, name, value, usage)
	completeWith(cmd, name, words, cobra.ShellCompDirectiveNoFileComp)
}

// CompleteWithFiles offers fixed words for the value of a flag that may also name a file.
func CompleteWithFiles(cmd *cobra.Command, flag string, words []string) {
	completeWith(cmd, flag, words, cobra.ShellCompDirectiveDefault)
}

// completeWith offers words, and remembers them for valueMeant.
func completeWith(cmd *cobra.Command, flag string, words []string, files cobra.ShellCompDirective) {
	Complete(cmd, flag, cobra.FixedCompletions(words, files))
	_ = cmd.Flags().SetAnnotation(flag, wordsAnnotation, words) // of a flag that exists
}

package terminal

import (
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mafalda/internal/enum"
)

// flagText says what is wrong with a number without naming the function that found out.
func flagText(err error) string {
	text, reason, _ := strings.Cut(err.Error(), ": strconv.")
	if reason != "" && strings.HasSuffix(reason, "value out of range") {
		return text + ": is too large a number"
	}
	parser, _, _ := strings.Cut(reason, ":")
	must, known := map[string]string{"ParseBool": "true or false", "ParseFloat": "a number", "ParseInt": "a whole number",
		"ParseUint": "a whole number, zero or more"}[parser]
	if !known {
		return err.Error()
	}
	return text + ": must be " + must
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

// strict makes the commands that cobra adds refuse words that mean nothing to them: shells, and unknown commands.
// It comes after SetOut, which the completion command looks at when it is made; its scripts are never wrapped.
func strict(root *cobra.Command) {
	out := root.OutOrStdout()
	root.SetOut(Verbatim(out))
	root.InitDefaultCompletionCmd()
	root.SetOut(out)
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args, c.RunE = NoArgs, func(c *cobra.Command, _ []string) error { return c.Help() }
			for _, shell := range c.Commands() {
				shell.Args = NoArgs
			}
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				about, rest, err := root.Find(args)
				if err != nil {
					return Usage(err)
				}
				return NoArgs(about, rest)
			}
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

// Args refuses command lines without arguments, or with more than that.
func Args(most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 || len(args) > most {
			return Usagef("%s needs %s (see '%s --help')", cmd.CommandPath(), what, cmd.CommandPath())
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

// CheckFlags fails for the first flag that is given without one that it is for, or with one that it is not for, a word that is none of
// its words, or a number out of its range, which may stand for a default in a library. Annotations say so: for, without, words (and
// file or other, if others than these may be right), least, within, positive and share. A condition names a flag that is given, or has a value, as trust=secldp.
func CheckFlags(cmd *cobra.Command) (wrong error) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if wrong == nil && Given(cmd, f.Name) {
			wrong = checkFlag(cmd, f)
		}
	})
	return wrong
}

func checkFlag(cmd *cobra.Command, f *pflag.Flag) error {
	value := kindOf(f).String()
	v, _ := strconv.ParseFloat(value, 64) // of a number
	holds := func(condition string) bool {
		name, of, compared := strings.Cut(condition, "=")
		other := cmd.Flags().Lookup(name)
		return other != nil && (!compared && Given(cmd, name) || compared && kindOf(other).String() == of)
	}
	has := func(annotation string) bool { return f.Annotations[annotation] != nil }
	must := ""
	switch others, words, least, within := f.Annotations["for"], f.Annotations[Words], f.Annotations["least"], f.Annotations["within"]; {
	case others != nil && !slices.ContainsFunc(others, holds):
		return Usagef("--%s is for --%s", f.Name, strings.ReplaceAll(strings.Join(others, " or --"), "=", " "))
	case words != nil && !has("file") && !has("other") && !slices.Contains(words, value):
		return Usagef("--%s %s: choose %s", f.Name, value, enum.List(words))
	case has("positive") && !(v > 0 && !math.IsInf(v, 1)):
		must = "positive and finite"
	case has("share") && !(v > 0 && v < 1):
		must = "between 0 and 1"
	case within != nil:
		low, _ := strconv.ParseFloat(within[0], 64)
		if high, err := strconv.ParseFloat(within[1], 64); err != nil || !(v >= low && v <= high) {
			must = "from " + within[0] + " to " + within[1]
		}
	case least != nil:
		if n, err := strconv.ParseFloat(least[0], 64); err != nil || v < n {
			must = "at least " + least[0]
		}
	}
	if must != "" {
		return Usagef("--%s %s: must be %s", f.Name, value, must)
	}
	without := f.Annotations["without"]
	if i := slices.IndexFunc(without, holds); i >= 0 {
		return Usagef("--%s and --%s: only one of them", f.Name, strings.ReplaceAll(without[i], "=", " "))
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

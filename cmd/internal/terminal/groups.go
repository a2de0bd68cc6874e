package terminal

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const groupAnnotation = "mafalda_group"

// Often is the annotation of a command with the flags, divided by blanks, that help begins with: the others are in --help-all.
const Often = "mafalda_often"

// often reports whether the help of a command begins with a flag, rather than leaving it to --help-all.
func often(cmd *cobra.Command, name string) bool {
	names := cmd.Annotations[Often]
	return names == "" || slices.Contains(strings.Fields(names), name)
}

// GroupFlags lists flags of a command under a heading of their own in its help. Flags of no group
// come first.
func GroupFlags(cmd *cobra.Command, heading string, flags ...string) {
	for _, name := range flags {
		if err := cmd.Flags().SetAnnotation(name, groupAnnotation, []string{heading}); err != nil {
			panic(err) // a flag that does not exist
		}
	}
}

// WrapHelp makes help list flags and commands by their groups, and wraps it at the width of the terminal that it goes
// to.
func WrapHelp(root *cobra.Command, to io.Writer) {
	width := terminalWidth(to)
	if width > 0 {
		width = max(width, leastWidth)
	}
	all := false
	root.PersistentFlags().BoolFunc("help-all", "help with all flags", func(string) error {
		all = true
		return pflag.ErrHelp
	})
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := io.WriteString(Verbatim(cmd.OutOrStderr()), usageText(cmd, width, all))
		return err
	})
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		fmt.Fprint(Verbatim(cmd.OutOrStdout()), helpText(cmd, width, all))
	})
}

// helpText returns the help of a command, with all its flags or with those that are used often.
func helpText(cmd *cobra.Command, width int, all bool) string {
	about := cmp.Or(cmd.Long, cmd.Short)
	if width > 0 {
		about = reflowed(about, width)
	}
	return strings.TrimSpace(about) + "\n\n" + usageText(cmd, width, all)
}

// usageText returns what cobra would, but the flags and commands by their groups.
func usageText(cmd *cobra.Command, width int, all bool) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Usage:\n")
	if cmd.Runnable() && (cmd.HasParent() || !cmd.HasAvailableSubCommands()) {
		fmt.Fprintf(&text, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&text, "  %s COMMAND [flags]\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&text, "\nExamples:\n%s\n", wrapExamples(cmd.Example, width))
	}
	for _, g := range commandGroups(cmd) {
		fmt.Fprintf(&text, "\n%s:\n", g.Title)
		for _, c := range cmd.Commands() {
			if c.GroupID == g.ID && (c.IsAvailableCommand() || c.Name() == "help") {
				fmt.Fprintln(&text, wrapLine(fmt.Sprintf("  %-*s  %s", cmd.NamePadding(), c.Name(), c.Short), width))
			}
		}
	}
	for _, g := range flagGroups(cmd, all) {
		flags := strings.TrimRight(g.FlagUsagesWrapped(width), "\n")
		fmt.Fprintf(&text, "\n%s:\n%s\n", g.Name(), wrapLines(flags, width))
	}
	if cmd.Annotations[Often] != "" && !all {
		fmt.Fprintf(&text, "\nAll flags: %s --help-all\n", cmd.CommandPath())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&text, "\n%s\n", wrapLine(fmt.Sprintf("What a command does: %s COMMAND --help", cmd.CommandPath()), width))
	}
	return text.String()
}

// commandGroups returns the groups of the commands below; commands of no group come last.
func commandGroups(cmd *cobra.Command) []*cobra.Group {
	groups, last := slices.Clone(cmd.Groups()), "Commands"
	if !cmd.HasAvailableSubCommands() {
		return nil
	} else if len(groups) > 0 {
		last = "Other commands"
	}
	return append(groups, &cobra.Group{Title: last})
}

// wrapExamples breaks examples that are wider than a terminal so that they can still be copied: with a backslash at the
// end of a line, and a remark on a line before the command.
func wrapExamples(text string, width int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if width == 0 || utf8.RuneCountInString(line) <= width {
			continue
		}
		command, remark, _ := strings.Cut(line, "  # ")
		command = brokenCommand(command, width, 6)
		if remark != "" {
			command = wrapLine("  # "+remark, width) + "\n" + command
		}
		lines[i] = command
	}
	return strings.Join(lines, "\n")
}

// flagGroups returns the flags of a command, all or those that are used often, by their groups, whose names are the headings: flags
// of no group first, and flags that all commands have last.
func flagGroups(cmd *cobra.Command, all bool) (groups []*pflag.FlagSet) {
	add := func(f *pflag.Flag, heading string) {
		at := slices.IndexFunc(groups, func(g *pflag.FlagSet) bool { return g.Name() == heading })
		if at < 0 {
			at = len(groups)
			groups = append(groups, pflag.NewFlagSet(heading, pflag.ContinueOnError))
		}
		groups[at].AddFlag(f)
	}
	const first = "Flags"
	add(&pflag.Flag{Name: first, Hidden: true}, first)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if all || often(cmd, f.Name) {
			add(f, append(f.Annotations[groupAnnotation], first)[0])
		}
	})
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { add(f, "Global Flags") })
	return slices.DeleteFunc(groups, func(g *pflag.FlagSet) bool { return !g.HasAvailableFlags() })
}

package terminal

import (
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
	root.SetUsageFunc(func(cmd *cobra.Command) error { return groupedUsage(cmd, width, all) })
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		about := cmd.Long
		if about == "" {
			about = cmd.Short
		}
		if width > 0 {
			about = reflowed(about, width)
		}
		fmt.Fprintf(Verbatim(cmd.OutOrStdout()), "%s\n\n%s", strings.TrimSpace(about), cmd.UsageString())
	})
}

// groupedUsage writes what cobra would, but the flags and commands by their groups.
func groupedUsage(cmd *cobra.Command, width int, all bool) error {
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
		flags := strings.TrimRight(g.flags.FlagUsagesWrapped(width), "\n")
		fmt.Fprintf(&text, "\n%s:\n%s\n", g.heading, wrapLines(flags, width))
	}
	if cmd.Annotations[Often] != "" && !all {
		fmt.Fprintf(&text, "\nAll flags: %s --help-all\n", cmd.CommandPath())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&text, "\n%s\n", wrapLine(fmt.Sprintf("What a command does: %s COMMAND --help", cmd.CommandPath()), width))
	}
	_, err := io.WriteString(Verbatim(cmd.OutOrStderr()), text.String())
	return err
}

// commandGroups returns the groups of the commands below; commands of no group come last.
func commandGroups(cmd *cobra.Command) []*cobra.Group {
	if !cmd.HasAvailableSubCommands() {
		return nil
	}
	groups := slices.Clone(cmd.Groups())
	title := "Commands"
	if len(groups) > 0 {
		title = "Other commands"
	}
	return append(groups, &cobra.Group{Title: title})
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

// flagGroup is what stands under one heading in the help of a command.
type flagGroup struct {
	heading string
	flags   *pflag.FlagSet
}

// flagGroups returns the flags of a command, all or those that are used often, by their groups: flags of no group first, and
// flags that all commands have last.
func flagGroups(cmd *cobra.Command, all bool) []flagGroup {
	sets := map[string]*pflag.FlagSet{}
	order := []string{"Flags"}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !all && !often(cmd, f.Name) {
			return
		}
		heading := order[0]
		if of := f.Annotations[groupAnnotation]; len(of) > 0 {
			heading = of[0]
		}
		if sets[heading] == nil {
			sets[heading] = pflag.NewFlagSet(heading, pflag.ContinueOnError)
		}
		sets[heading].AddFlag(f)
		if !slices.Contains(order, heading) {
			order = append(order, heading)
		}
	})
	var groups []flagGroup
	for _, heading := range order {
		if set := sets[heading]; set != nil && set.HasAvailableFlags() {
			groups = append(groups, flagGroup{heading, set})
		}
	}
	if cmd.HasAvailableInheritedFlags() {
		groups = append(groups, flagGroup{"Global Flags", cmd.InheritedFlags()})
	}
	return groups
}

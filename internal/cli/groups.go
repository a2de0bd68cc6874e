package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

const groupAnnotation = "mafalda_group"

// InGroup lists flags of a command under a heading of their own in its help. Flags of no group
// come first.
func InGroup(cmd *cobra.Command, heading string, flags ...string) {
	for _, name := range flags {
		if err := cmd.Flags().SetAnnotation(name, groupAnnotation, []string{heading}); err != nil {
			panic(err) // a flag that does not exist
		}
	}
	cmd.SetUsageFunc(func(cmd *cobra.Command) error { return groupedUsage(cmd, 0) })
}

// wrapHelp makes help list flags by their groups, and wraps them at the width of the terminal that it goes to.
func wrapHelp(cmd *cobra.Command, to io.Writer) {
	width := 0 // not wrapped
	if f, ok := to.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil {
			width = max(w, leastWidth)
		}
	}
	groupUsage(cmd, width)
}

// leastWidth is that of terminals in which wrapped help can be read.
const leastWidth = 60

func groupUsage(cmd *cobra.Command, width int) {
	if !cmd.HasSubCommands() {
		cmd.SetUsageFunc(func(cmd *cobra.Command) error { return groupedUsage(cmd, width) })
	}
	for _, sub := range cmd.Commands() {
		groupUsage(sub, width)
	}
}

// groupedUsage writes what cobra would, of a command without further ones, but the flags by their groups.
func groupedUsage(cmd *cobra.Command, width int) error {
	var text strings.Builder
	fmt.Fprintf(&text, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.HasExample() {
		fmt.Fprintf(&text, "\nExamples:\n%s\n", cmd.Example)
	}
	for _, g := range flagGroups(cmd) {
		fmt.Fprintf(&text, "\n%s:\n%s\n", g.heading, strings.TrimRight(g.flags.FlagUsagesWrapped(width), "\n"))
	}
	_, err := io.WriteString(cmd.OutOrStderr(), text.String())
	return err
}

// flagGroup is what stands under one heading in the help of a command.
type flagGroup struct {
	heading string
	flags   *pflag.FlagSet
}

// flagGroups returns the flags of a command by their groups, those of no group first, and those of all commands last.
func flagGroups(cmd *cobra.Command) []flagGroup {
	sets := map[string]*pflag.FlagSet{}
	order := []string{"Flags"}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
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

// HiddenAlias makes an old name of a flag mean it. The old one is in no help.
func HiddenAlias(cmd *cobra.Command, old, flag string) {
	before := cmd.Flags().GetNormalizeFunc()
	cmd.Flags().SetNormalizeFunc(func(of *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == old {
			name = flag
		}
		return before(of, name)
	})
}

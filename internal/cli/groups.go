package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
	cmd.SetUsageFunc(groupedUsage)
}

// groupedUsage writes what cobra would, of a command without further ones, but the flags by their groups.
func groupedUsage(cmd *cobra.Command) error {
	var text strings.Builder
	fmt.Fprintf(&text, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.HasExample() {
		fmt.Fprintf(&text, "\nExamples:\n%s\n", cmd.Example)
	}
	groups := map[string]*pflag.FlagSet{}
	order := []string{"Flags"}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		heading := order[0]
		if of := f.Annotations[groupAnnotation]; len(of) > 0 {
			heading = of[0]
		}
		if groups[heading] == nil {
			groups[heading] = pflag.NewFlagSet(heading, pflag.ContinueOnError)
		}
		groups[heading].AddFlag(f)
		if !slices.Contains(order, heading) {
			order = append(order, heading)
		}
	})
	for _, heading := range order {
		if set := groups[heading]; set != nil && set.HasAvailableFlags() {
			fmt.Fprintf(&text, "\n%s:\n%s\n", heading, strings.TrimRight(set.FlagUsages(), "\n"))
		}
	}
	if cmd.HasAvailableInheritedFlags() {
		fmt.Fprintf(&text, "\nGlobal Flags:\n%s\n", strings.TrimRight(cmd.InheritedFlags().FlagUsages(), "\n"))
	}
	_, err := io.WriteString(cmd.OutOrStderr(), text.String())
	return err
}

// HiddenAlias makes an old name of a flag mean it. The old one is in no help.
func HiddenAlias(cmd *cobra.Command, old, flag string) {
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == old {
			name = flag
		}
		return pflag.NormalizedName(name)
	})
}

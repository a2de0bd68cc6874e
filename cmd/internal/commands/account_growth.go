package commands

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/threat"
)

// lengths returns the numbers of steps of --growth, in order; nil without it.
func (f *accountFlags) lengths(cmd *cobra.Command) ([]int, error) {
	if f.growth == "" {
		return nil, nil
	}
	if slices.ContainsFunc([]string{"T", "participations", "separation", "schema"}, cmd.Flags().Changed) {
		return nil, terminal.Usagef("--growth has its own numbers of steps: leave out --T, -k, -b and --schema")
	}
	var all []int
	for _, word := range strings.Split(f.growth, ",") {
		n, err := terminal.ParseWhole(strings.TrimSpace(word))
		if err != nil || n < 1 {
			return nil, terminal.Usagef("--growth %s: %q is no number of steps", f.growth, word)
		}
		all = append(all, n)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// runGrowth is account with --growth.
func (l *ledger) runGrowth(cmd *cobra.Command, lengths []int) error {
	if len(l.Attackers) > 1 {
		return terminal.Usagef("--growth is for one attacker at a time")
	}
	if l.Options.Worst {
		return terminal.Usagef("--worst-answer is for pairs: leave out --growth")
	}
	var cells []threat.GrowthCell
	for _, steps := range lengths {
		cells = append(cells, threat.GrowthCell{Cell: l.Cells()[0], Steps: steps})
	}
	l.progress.At = "numbers of steps"
	all := grids.Study[threat.GrowthCell, threat.GrowthRow]{Dir: l.flags.Dir, Force: l.flags.Force, Spec: l.GrowthSpec(), Cells: cells,
		Cell: "length", Do: l.Study.Growth, Files: l.GrowthFiles, Shard: &l.flags.shard,
		Cost: l.Study.GrowthSeconds, Command: cmd}
	rows, whole, err := all.Run(cmd.Context(), l.flags.runner, l.progress)
	if err != nil || !whole {
		return err
	}
	return l.flags.Show(cmd, l.GrowthData(rows), func(w io.Writer) error {
		if err := l.GrowthDocument(rows).Text(w); err != nil || l.flags.Dir == "" {
			return err
		}
		return results.Written(w, l.flags.Dir, "growth.json", "growth.png", "growth.svg", "growth.pdf")
	})
}

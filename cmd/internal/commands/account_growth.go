package commands

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/lists"
	"mafalda/threat"
)

// lengths returns the numbers of steps of --growth, in order; nil without it.
func (f *accountFlags) lengths(cmd *cobra.Command) ([]int, error) {
	if f.growth == "" {
		return nil, nil
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
func (f *accountFlags) runGrowth(cmd *cobra.Command, lengths []int) error {
	if len(f.Attackers) > 1 {
		return terminal.Usagef("--growth is for one attacker at a time")
	}
	if f.Options.Worst {
		return terminal.Usagef("--reaction worst-answer is for pairs: leave out --growth")
	}
	cells := lists.Map(lengths, func(steps int) threat.GrowthCell {
		return threat.GrowthCell{Cell: f.Cells()[0], Steps: steps}
	})
	f.progress.At = "numbers of steps"
	rows, whole, err := runGrid(&f.gridFlags, cmd, grids.Study[threat.GrowthCell, threat.GrowthRow]{Spec: f.GrowthSpec(),
		Cells: cells, Cell: "length", Do: f.Study.Growth, Files: f.GrowthFiles, Cost: f.Study.GrowthSeconds}, f.progress)
	if err != nil || !whole {
		return err
	}
	return f.show(cmd, f.GrowthData(rows), f.GrowthDocument(rows))
}

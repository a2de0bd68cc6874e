package commands

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/results"
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
	all := grids.Study[threat.GrowthCell, threat.GrowthRow]{Dir: f.Dir, Force: f.Force, Spec: f.GrowthSpec(), Cells: cells,
		Cell: "length", Do: f.Study.Growth, Files: f.GrowthFiles, Shard: &f.shard,
		Cost: f.Study.GrowthSeconds, Command: cmd}
	rows, whole, err := all.Run(cmd.Context(), f.runner, f.progress)
	if err != nil || !whole {
		return err
	}
	return f.Show(cmd, f.GrowthData(rows), func(w io.Writer) error {
		if err := f.GrowthDocument(rows).Text(w); err != nil || f.Dir == "" {
			return err
		}
		return results.Written(w, f.Dir, "growth.json", "growth.png", "growth.svg", "growth.pdf")
	})
}

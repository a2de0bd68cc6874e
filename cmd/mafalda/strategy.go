package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/internal/cli"
	"mafalda/participation"
	"mafalda/plan"
)

// strategyFlags say which class of strategies to optimize over.
type strategyFlags struct {
	class string
	plan.Parameters
}

func (f *strategyFlags) bind(cmd *cobra.Command) {
	var names []string
	about := "class of strategies:"
	for _, c := range plan.StrategyClasses() {
		names = append(names, c.Name)
		about += fmt.Sprintf("\n%s: %s", c.Name, c.About)
	}
	cmd.Flags().StringVar(&f.class, "strategy", "dense", about)
	f.Buffers = 4
	cmd.Flags().Var((*cli.WholeNumber)(&f.Bandwidth), "bandwidth", "bands or coefficients w of the strategy (default: see --strategy)")
	cmd.Flags().Var((*cli.WholeNumber)(&f.Buffers), "buffers", "buffers of --strategy blt")
	cmd.Flags().BoolVar(&f.ScaleColumns, "scale-columns", false, "fit a scale for every column of --strategy toeplitz")
	cli.CompleteWith(cmd, "strategy", names)
}

// choose returns the class, after checking the flags against it and filling in defaults.
func (f *strategyFlags) choose(cmd *cobra.Command, s participation.Schema) (plan.StrategyClass, error) {
	if plan.MinSep(s) && !cmd.Flags().Changed("strategy") {
		f.class = "banded"
	}
	var names []string
	for _, c := range plan.StrategyClasses() {
		names = append(names, c.Name)
		if c.Name != f.class {
			continue
		}
		switch given := cmd.Flags().Changed; {
		case given("bandwidth") && c.Bandwidth == nil:
			return c, cli.Usagef("--bandwidth is not for --strategy %s", c.Name)
		case given("bandwidth") && (f.Bandwidth < 1 || f.Bandwidth > s.Steps()):
			return c, cli.Usagef("--bandwidth %d: must be from 1 to T = %d", f.Bandwidth, s.Steps())
		case given("buffers") && c.Name != "blt":
			return c, cli.Usagef("--buffers is for --strategy blt")
		case c.Name == "blt" && (f.Buffers < 1 || f.Buffers >= max(s.Steps(), 2)):
			return c, cli.Usagef("--buffers %d: must be at least 1 and less than T = %d", f.Buffers, s.Steps())
		case f.ScaleColumns && c.Name != "toeplitz":
			return c, cli.Usagef("--scale-columns is for --strategy toeplitz")
		case f.ScaleColumns && !participation.IsPartition(s):
			return c, cli.Usagef("--scale-columns is not for %s participation, whose patterns overlap", s.Name())
		}
		if f.Bandwidth == 0 && c.Bandwidth != nil {
			f.Bandwidth = c.Bandwidth(s)
		}
		return c, nil
	}
	return plan.StrategyClass{}, cli.Usagef("unknown strategy %q: choose %s", f.class, strings.Join(names, ", "))
}

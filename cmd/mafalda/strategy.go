package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"mafalda/factorize"
	"mafalda/internal/cli"
	"mafalda/participation"
)

// strategyFlags say which class of strategies to optimize over.
type strategyFlags struct {
	class        string
	bandwidth    int
	buffers      int
	scaleColumns bool
}

func (f *strategyFlags) bind(cmd *cobra.Command) {
	var names []string
	about := "class of strategies:"
	for _, c := range factorize.Classes() {
		names = append(names, c.Name())
		about += fmt.Sprintf("\n%s: %s", c.Name(), c.Traits().About)
	}
	cmd.Flags().StringVar(&f.class, "strategy", factorize.Dense{}.Name(), about)
	f.buffers = factorize.BLT{}.Traits().Buffers
	cmd.Flags().Var((*cli.WholeNumber)(&f.bandwidth), "bandwidth", "bands or coefficients w of the strategy (default: see --strategy)")
	cmd.Flags().Var((*cli.WholeNumber)(&f.buffers), "buffers", "buffers of --strategy blt")
	cmd.Flags().BoolVar(&f.scaleColumns, "scale-columns", false, "fit a scale for every column of --strategy toeplitz")
	cli.CompleteWith(cmd, "strategy", names)
}

// choose returns the class with its parameters, after checking the flags against it.
func (f *strategyFlags) choose(cmd *cobra.Command, s participation.Schema) (factorize.Class, error) {
	given := cmd.Flags().Changed
	c := factorize.DefaultClass(s)
	if given("strategy") {
		var err error
		if c, err = factorize.ClassOf(f.class); err != nil {
			return nil, cli.Usage(err)
		}
	}
	has := c.Traits()
	switch {
	case given("bandwidth") && has.Bandwidth == nil:
		return c, cli.Usagef("--bandwidth is not for --strategy %s", c.Name())
	case given("bandwidth") && (f.bandwidth < 1 || f.bandwidth > s.Steps()):
		return c, cli.Usagef("--bandwidth %d: must be from 1 to T = %d", f.bandwidth, s.Steps())
	case given("buffers") && has.Buffers == 0:
		return c, cli.Usagef("--buffers is for --strategy blt")
	case has.Buffers > 0 && (f.buffers < 1 || f.buffers >= max(s.Steps(), 2)):
		return c, cli.Usagef("--buffers %d: must be at least 1 and less than T = %d", f.buffers, s.Steps())
	case f.scaleColumns && !has.ScaleColumns:
		return c, cli.Usagef("--scale-columns is for --strategy toeplitz")
	case f.scaleColumns && !participation.IsPartition(s):
		return c, cli.Usagef("--scale-columns is not for %s participation, whose patterns overlap", s.Name())
	}
	p := factorize.Parameters{Bandwidth: f.bandwidth, ScaleColumns: f.scaleColumns}
	if has.Buffers > 0 {
		p.Buffers = f.buffers
	}
	return c.With(p)
}

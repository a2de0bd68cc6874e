package commands

import (
	"errors"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/noise"
)

// spentFlags ask what a run of an export has given away after some of its steps.
type spentFlags struct {
	export, node string
	steps        []int
}

// shownSteps is how many steps are printed if none is named.
const shownSteps = 20

// run prints what is spent after the steps.
func (f *spentFlags) run(cmd *cobra.Command, delta float64, json bool) error {
	if cmd.Flags().Changed("delta") && !(delta > 0 && delta < 1) {
		return terminal.Usagef("--delta %v: must be above 0 and below 1", delta)
	}
	if f.node != "" {
		e, err := export.Load(f.export)
		if err == nil {
			_, f.node, err = flags.ExportedNode("node", f.node, e)
		}
		if err != nil {
			return terminal.Usage(err)
		}
	}
	all, err := noise.OpenOdometer(f.export, f.node, delta)
	if err != nil {
		return terminal.Usage(err)
	}
	steps := f.steps
	if !cmd.Flags().Changed("step") {
		steps = results.SpentSteps(all.Steps(), shownSteps)
	}
	for _, t := range steps {
		if t < 0 || t > all.Steps() {
			return terminal.Usagef("--step %d: %s has the steps 0 to %d", t, f.export, all.Steps())
		}
	}
	bar := terminal.NewProgress(cmd.ErrOrStderr(), false)
	defer bar.Clear()
	spent, err := all.Curve(steps, bar.ShowAs("steps"))
	bar.Clear()
	if errors.Is(err, noise.ErrOdometer) {
		err = terminal.Usage(err)
	}
	if err != nil {
		return err
	}
	r := &results.SpentResult{Export: f.export, Node: f.node, Steps: all.Steps(), Spent: spent}
	if json {
		return terminal.WriteJSONLine(cmd.OutOrStdout(), r)
	}
	return r.Document().Text(cmd.OutOrStdout())
}

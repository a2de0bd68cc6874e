package commands

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/plan"
	"mafalda/study"
	"mafalda/workload"
)

type samplingFlags struct {
	runner *grids.Runner

	network  flags.NetworkFlags
	schema   flags.SchemaFlags
	workload string
	levels   plan.Privacies
	style    figures.Style
	terminal.Output
}

// samplingFile is the result in a folder; the others have its name, with other endings.
const samplingName, samplingFile = "sampling", "sampling.json"

func newSamplingCmd(runner *grids.Runner) *cobra.Command {
	f := samplingFlags{runner: runner}
	return flags.Command("sampling", &f, terminal.UntilInterrupted(f.run))
}

func (f *samplingFlags) run(cmd *cobra.Command) (err error) {
	var p plan.Problem
	if p.Schema, err = f.schema.Choose(cmd); err != nil {
		return err
	}
	if p.Workload.Kind, err = workload.ParseKind(f.workload); err != nil {
		return terminal.Usage(err)
	}
	if err := plan.CheckSamplingCurve(p, f.levels); err != nil { // before a large network is read
		return err
	}
	if p.Network, err = f.network.Load(); err != nil {
		return err
	}
	f.Note(cmd)(p.Network.Notes...)
	if err := results.CheckFolder(f.Dir, samplingFile, f.Force, samplingName); err != nil {
		return err
	}
	defer func() { results.RemoveIfEmpty(f.Dir, err) }()
	slices.Sort(f.levels.Epsilons)
	levels := f.levels
	if f.Dir != "" { // for the picture
		levels.Epsilons = plan.Finer(levels.Epsilons)
	}
	bar := f.Progress(cmd)
	curves, err := plan.SamplingCurve(cmd.Context(), p, levels, plan.CurveOptions{Bins: f.levels.Epsilons,
		Progress: func(phase string, fraction float64) { bar.Show(fraction, phase) }})
	bar.Clear()
	if err != nil {
		return err
	}
	asked := curves.Only(f.levels.Epsilons)
	table := func(w io.Writer) error { return figures.WriteSampling(w, asked) }
	return outcome{name: samplingFile, data: results.SamplingResultOf(asked), says: results.SamplingDocument(asked),
		tables: []study.File{{Name: samplingName + ".csv", Write: table}},
		pictures: func(context.Context) (p figures.Pictures, err error) {
			p.Add(samplingName)(figures.Sampling(curves))
			return p, nil
		}, style: f.style}.finish(cmd, f.runner, &f.Output, bar)
}

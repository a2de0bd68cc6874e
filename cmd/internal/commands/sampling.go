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
	cmd := &cobra.Command{
		Use:   "sampling",
		Short: "Compare secret batches with batches in turn, at equal privacy",
		Long: `Compare what strategies cost on a network where batches are drawn in secret, by Poisson sampling, with the certified optimum
for batches in turn, whose privacy holds against whoever knows when a record takes part. For every --epsilon and numbers of
bands w from 1 (DP-D-SGD) to b: the squared error with the noise for (epsilon, delta), divided by the error of the optimum with
its own noise.
A batch of w bands is drawn from one of w groups, every record with probability w/b: as many as in turn, on average.
Beside them are two lower bounds: no strategy, whatever its class, has a smaller error under Poisson sampling from the groups
of the best bands, or under random bins; and, where T = k·b, the best number of bands with random allocation, where every record
takes part exactly k times, and, up to 512 steps and 64 batches, what strategies without negative entries reach under random
bins, with noise that a confirmation by samples says is enough, but for a chance of 1e-9 each.

With -o, write sampling.csv, sampling.json and a picture. "mafalda optimize --sampling poisson" exports the best strategy for an
epsilon, and proves that no other number of bands is better.`,
		Example: `  mafalda sampling --graph florentine --T 380 -k 20
  mafalda sampling --graph ego.edges --T 380 -k 20 --epsilon 0.5,1,2,4,8,16 -o sampling
  mafalda sampling --graph erdos:100,0.1 --T 64 -k 4 --delta 1e-5 --json`,
		Args: terminal.NoArgs,
		RunE: terminal.UntilInterrupted(f.run),
	}
	f.network.BindGraph(cmd)
	f.network.BindGossip(cmd)
	f.schema.Bind(cmd)
	terminal.ChoiceVar(cmd, &f.workload, "workload", "model", []string{workload.Model.String(), workload.Message.String()},
		"whose error counts: model (after averaging) or message (before)")
	flags.BindPrivacies(cmd, &f.levels, plan.Privacies{Epsilons: []float64{0.5, 1, 2, 4, 8, 16}, Delta: 1e-6})
	flags.BindFigure(cmd, &f.style)
	f.Output.Bind(cmd, "write table and picture to this `folder`", "replace files that are there",
		"print one JSON object instead of the table")
	return cmd
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

package commands

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/plan"
	"mafalda/study"
	"mafalda/workload"
)

type samplingFlags struct {
	network  flags.NetworkFlags
	schema   flags.SchemaFlags
	workload workload.Kind
	levels   plan.Privacies
	outcomeFlags
}

// samplingName is the name of all files in a folder, with several endings.
const samplingName = "sampling"

func (f *samplingFlags) run(cmd *cobra.Command) (err error) {
	p := plan.Problem{Workload: workload.Spec{Kind: f.workload}}
	if p.Schema, err = f.schema.Choose(cmd); err != nil {
		return err
	}
	if err := plan.CheckSamplingCurve(p, f.levels); err != nil { // before a large network is read
		return err
	}
	if p.Network, err = f.network.Load(); err != nil {
		return err
	}
	f.Note(cmd)(p.Network.Notes...)
	slices.Sort(f.levels.Epsilons)
	levels := f.levels
	if f.Dir != "" { // for the picture
		levels.Epsilons = plan.Finer(levels.Epsilons)
	}
	return f.produce(cmd, samplingName, []string{samplingName}, func(ctx context.Context, bar *terminal.Progress) (o outcome, err error) {
		curves, err := plan.SamplingCurve(ctx, p, levels, plan.CurveOptions{Bins: f.levels.Epsilons,
			Progress: func(phase string, fraction float64) { bar.Show(fraction, phase) }})
		if err != nil {
			return o, err
		}
		asked := curves.Only(f.levels.Epsilons)
		table := func(w io.Writer) error { return figures.WriteSampling(w, asked) }
		return outcome{data: results.SamplingResultOf(asked), says: results.SamplingDocument(asked),
			tables: []study.File{{Name: samplingName + ".csv", Write: table}},
			pictures: func(context.Context) (p figures.Pictures, err error) {
				p.Add(samplingName)(figures.Sampling(curves))
				return p, nil
			}}, nil
	})
}

package commands

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/parallel"
	"mafalda/protocols/dpps"
	"mafalda/simulate"
)

// partName is the file of the result in a folder.
const partName = "partpsp.json"

type partFlags struct {
	runner *grids.Runner

	o        simulate.PartPSPOptions
	estimate string
	style    figures.Style
	terminal.Output
}

func newPartPSPCmd(runner *grids.Runner) *cobra.Command {
	f := partFlags{runner: runner, o: simulate.PartPSPOptions{Records: 12000, Features: 64, Nodes: 10, Epochs: 12, Batch: 50, Seeds: 3,
		Shared: []int{1, 2, 3}, Plan: dpps.Plan{Sync: 5}}}
	cmd := &cobra.Command{
		Use:   "partpsp",
		Short: "Train with PartPSP: push-sum with Laplace noise, of some layers only",
		Long: `Train a perceptron (features-10-features-classes, tanh, no biases) on directed networks with PartPSP (Zhou, Xue & Chen), and print the
test accuracy as their Table II has it: rows are how many layers are shared (all of them is SGPDP) and the noise, columns networks.

The noise of a round is Laplace of scale gamma-n·S/b in every shared parameter, S the sensitivity of the round; the round has
epsilon = b/gamma-n, which is printed: b alone is no epsilon. By default S is the real one, as in the paper's table. No node knows it,
so this shows the best that can be expected; --push-sum estimate:sound takes what the nodes can compute.

synthetic needs no data; mnist a folder with four IDX files.`,
		Example: `  mafalda partpsp
  mafalda partpsp --networks exp,d-out:2 --push-sum estimate:sound,gamma-n:1e-4 -o partpsp
  mafalda partpsp --task mnist:data=mnist --batch 100 --seeds 1 -o table2
  mafalda partpsp --task features=784 --shared 1 --laplace-b 1 --json`,
		Args: terminal.NoArgs,
		RunE: terminal.UntilInterrupted(f.run),
	}
	fl := cmd.Flags()
	terminal.ChoiceVar(cmd, &f.o.Task, "task", "synthetic", simulate.PartPSPTasks(),
		"what is learned: synthetic or mnist")
	fl.StringVar(&f.o.Data, "task data", "", "`folder` with the data of mnist")
	terminal.Whole(fl, &f.o.Records, "task records", "records of the synthetic task")
	terminal.Whole(fl, &f.o.Features, "task features", "features of the synthetic task (784 for a model as large as the paper's)")
	terminal.Family(cmd, "task", "")
	terminal.Whole(fl, &f.o.Nodes, "nodes", "nodes of the network")
	fl.StringSliceVar(&f.o.Networks, "networks", []string{"exp", "d-out:4", "d-out:6", "d-out:8"},
		"directed networks: exp, and d-out:d for several d")
	terminal.NumbersVar(fl, &f.o.Bs, "laplace-b", []float64{1, 2, 3}, "noise levels; training without noise is always there, too")
	fl.Var(&terminal.WholeNumbers{List: &f.o.Shared}, "shared", "how many of the three layers are shared, from the first")
	fl.Float64Var(&f.o.Plan.NoiseRate, "push-sum gamma-n", 0.002, "noise rate; a round has epsilon = b/gamma-n")
	terminal.Whole(fl, &f.o.Plan.Sync, "push-sum sync", "all nodes average exactly after so many rounds (0: never)")
	terminal.ChoiceVar(cmd, &f.estimate, "push-sum estimate", "real", dpps.Sources(),
		"sensitivity of the rounds: real, sound or paper (see mafalda average)")
	terminal.Family(cmd, "push-sum", "noise, such as gamma-n:1e-4,estimate:sound:")
	terminal.Whole(fl, &f.o.Epochs, "epochs", "passes over the records")
	terminal.Whole(fl, &f.o.Batch, "batch", "records of a node in a round")
	fl.Float64Var(&f.o.LearningRate, "learning-rate", 0.3, "of shared and local layers")
	fl.Float64Var(&f.o.Clip, "clip", 100, "sum of magnitudes to which shared gradients are clipped")
	terminal.Whole(fl, &f.o.Seeds, "seeds", "runs of every cell")
	flags.BindFigure(cmd, &f.style)
	f.Output.Bind(cmd, "write to this `folder` the result, and figures of real and estimated sensitivity in the first rounds, for\n"+
		"every --laplace-b and --shared (with estimate real in runs of their own, with sound estimates)",
		"replace files that are there", "print one JSON object")
	return cmd
}

// partError marks errors of preparing, but for Ctrl-C, as errors of usage.
func partError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return terminal.Usage(err)
}

func (f *partFlags) run(cmd *cobra.Command) (err error) {
	o := f.o
	if len(o.Networks) == 0 || len(o.Shared) == 0 {
		return terminal.Usagef("--networks and --shared: nothing to train")
	}
	if err := o.Check(); err != nil {
		return partError(err)
	}
	if o.Plan.Source, err = dpps.ParseSource(f.estimate); err != nil {
		return partError(err)
	}
	p, err := parallel.Abandonable(cmd.Context(), func(ctx context.Context) (*simulate.PartPSP, error) {
		return simulate.NewPartPSP(ctx, o)
	})
	if err != nil {
		return partError(err)
	}
	if err := results.CheckFolder(f.Dir, partName, f.Force); err != nil {
		return err
	}
	defer func() { results.RemoveIfEmpty(f.Dir, err) }()
	bar := f.Progress(cmd)
	p.Progress = showing(bar, "runs")
	result, err := parallel.Abandonable(cmd.Context(), func(ctx context.Context) (*simulate.PartPSPResult, error) {
		cells, err := p.Train(ctx)
		if err != nil {
			return nil, err
		}
		return p.Result(cells), nil
	})
	bar.Clear()
	switch {
	case errors.Is(err, simulate.ErrData):
		return terminal.Usage(err)
	case err != nil:
		return err
	}
	return outcome{name: partName, data: result,
		text: func(w io.Writer) error { return results.WritePartPSP(w, p, result, o.Plan.Source) },
		pictures: func(ctx context.Context) (figures.Pictures, error) {
			curves, err := p.Curves(ctx, o.Plan, showing(bar, "figures"))
			return figures.PartPSP(curves), err
		}, style: f.style}.finish(cmd, f.runner, &f.Output, bar)
}

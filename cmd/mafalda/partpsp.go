package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/internal/cli"
	"mafalda/internal/figures"
	"mafalda/internal/parallel"
	"mafalda/internal/simulated"
	"mafalda/protocols/dpps"
	"mafalda/simulate"
)

type partFlags struct {
	task, data         string
	records, features  int
	nodes              int
	networks           []string
	bs                 []float64
	shared             []int
	epochs, batch      int
	rate, clip         float64
	push               pushFlags
	seeds              int
	out                string
	force, json, quiet bool
}

// hiddenUnits is that of the paper's model: features, 10, features, classes.
const hiddenUnits = 10

// syntheticClasses is of the task that needs no data.
const syntheticClasses = 10

func newPartPSPCmd() *cobra.Command {
	f := partFlags{records: 12000, features: 64, nodes: 10, epochs: 12, batch: 50, seeds: 3}
	f.push.sync = 5
	cmd := &cobra.Command{
		Use:   "partpsp",
		Short: "Train with PartPSP: push-sum with Laplace noise, of some layers only",
		Long: `Train a perceptron (features-10-features-classes, tanh, no biases) on directed networks with PartPSP (Zhou, Xue & Chen), and print the
test accuracy as their Table II has it: rows are how many layers are shared (all of them is SGPDP) and the noise, columns networks.

The noise of a round is Laplace of scale gamma-n·S/b in every shared parameter, S the sensitivity of the round; the round has
epsilon = b/gamma-n, which is printed: b alone is no epsilon. By default S is the real one, as in the paper's table. No node knows it,
so this shows the best that can be expected; --estimate sound takes what the nodes can compute.

synthetic needs no data; mnist a folder with four IDX files.`,
		Example: `  mafalda partpsp
  mafalda partpsp --networks exp,d-out:2 --estimate sound --gamma-n 1e-4 -o partpsp
  mafalda partpsp --task mnist --data mnist --batch 100 --seeds 1 -o table2
  mafalda partpsp --features 784 --shared 1 --b 1 --json`,
		Args: cli.NoArgs,
		RunE: cli.UntilInterrupted(f.run),
	}
	fl := cmd.Flags()
	fl.StringVar(&f.task, "task", "synthetic", "what is learned: synthetic or mnist")
	fl.StringVar(&f.data, "data", "", "`folder` with the data of mnist")
	fl.Var((*cli.WholeNumber)(&f.records), "records", "records of the synthetic task")
	fl.Var((*cli.WholeNumber)(&f.features), "features", "features of the synthetic task (784 for a model as large as the paper's)")
	fl.Var((*cli.WholeNumber)(&f.nodes), "nodes", "nodes of the network")
	fl.StringSliceVar(&f.networks, "networks", []string{"exp", "d-out:4", "d-out:6", "d-out:8"}, "directed networks: exp, and d-out:d for several d")
	fl.Float64SliceVar(&f.bs, "b", []float64{1, 2, 3}, "noise levels; training without noise is always there, too")
	f.shared = []int{1, 2, 3}
	fl.Var(&cli.WholeNumbers{List: &f.shared}, "shared", "how many of the three layers are shared, from the first")
	fl.Float64Var(&f.push.gammaN, "gamma-n", 0.002, "noise rate; a round has epsilon = b/gamma-n")
	fl.Var((*cli.WholeNumber)(&f.push.sync), "sync", "all nodes average exactly after so many rounds (0: never)")
	fl.StringVar(&f.push.estimate, "estimate", "real", "sensitivity of the rounds: real, sound or paper (see mafalda average)")
	fl.Var((*cli.WholeNumber)(&f.epochs), "epochs", "passes over the records")
	fl.Var((*cli.WholeNumber)(&f.batch), "batch", "records of a node in a round")
	fl.Float64Var(&f.rate, "learning-rate", 0.3, "of shared and local layers")
	fl.Float64Var(&f.clip, "clip", 100, "sum of magnitudes to which shared gradients are clipped")
	fl.Var((*cli.WholeNumber)(&f.seeds), "seeds", "runs of every cell")
	fl.StringVarP(&f.out, "output", "o", "",
		"write to this `folder` the result, and figures of real and estimated sensitivity in the first rounds, for\n"+
			"every --b and --shared (with --estimate real in runs of their own, with sound estimates)")
	fl.BoolVar(&f.force, "force", false, "replace files that are there")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only (and the JSON, with --json)")
	cli.CompleteWith(cmd, "task", []string{"synthetic", "mnist"})
	cli.CompleteWith(cmd, "estimate", estimates)
	return cmd
}

// partResult is the JSON.
type partResult struct {
	simulated.Mark
	Task     string                 `json:"task"`
	Widths   []int                  `json:"widths"`
	Nodes    int                    `json:"nodes"`
	Seeds    int                    `json:"seeds"`
	GammaN   float64                `json:"gamma_n"`
	Estimate string                 `json:"estimate"`
	Sync     int                    `json:"sync"`
	Cells    []simulate.PartPSPCell `json:"cells"`
}

// partTraining is a partpsp command whose flags and input have been checked.
type partTraining struct {
	flags  *partFlags
	grid   simulate.PartPSP
	result partResult
}

func (f *partFlags) run(cmd *cobra.Command) (err error) {
	t, err := parallel.Abandonable(cmd.Context(), f.prepare)
	if err != nil {
		return usageUnlessInterrupted(err)
	}
	if err := cli.CheckFolder(f.out, partName, f.force); err != nil {
		return err
	}
	defer func() { cli.RemoveIfEmpty(f.out, err) }()
	bar := cli.NewProgress(cmd.ErrOrStderr(), f.quiet)
	figures, err := parallel.Abandonable(cmd.Context(), func(ctx context.Context) ([]figures.Named, error) {
		var err error
		t.grid.Progress = func(done float64) { bar.Show(done, "runs") }
		if t.result.Cells, err = t.grid.Train(ctx); err != nil || f.out == "" {
			return nil, err
		}
		return t.figures(ctx, bar)
	})
	bar.Clear()
	if errors.Is(err, simulate.ErrData) {
		return cli.Usage(err)
	}
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := cli.WriteResult(f.out, partName, t.result, figures, f.force); err != nil {
			return err
		}
	}
	w := cmd.OutOrStdout()
	switch {
	case f.json:
		return cli.WriteJSON(w, t.result)
	case f.quiet:
		return nil
	}
	return t.print(w)
}

func usageUnlessInterrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return cli.Usage(err)
}

func (f *partFlags) prepare(ctx context.Context) (*partTraining, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	task, classes, err := f.chooseTask()
	if err != nil {
		return nil, err
	}
	t := &partTraining{flags: f}
	g := &t.grid
	*g = simulate.PartPSP{Task: task, Shared: f.shared, Bs: f.bs, Seeds: f.seeds, Epochs: f.epochs, Batch: f.batch, Rate: f.rate, Clip: f.clip,
		PushSum: f.push.options(dpps.Calibration{})}
	features := g.Task.Model.Features()
	widths := []int{features, hiddenUnits, features, classes}
	g.Model = simulate.NewPerceptron(widths...)
	t.result = partResult{Mark: simulated.Noise(), Task: f.task, Widths: widths, Nodes: f.nodes, Seeds: f.seeds,
		GammaN: f.push.gammaN, Estimate: f.push.estimate, Sync: f.push.sync}
	if g.Networks, err = f.chooseNetworks(ctx); err != nil {
		return nil, err
	}
	if len(g.Networks) == 0 || len(f.shared) == 0 {
		return nil, errors.New("--networks and --shared: nothing to train")
	}
	return t, nil
}

func (f *partFlags) check() error {
	for _, c := range []struct {
		name  string
		value float64
	}{
		{"records", float64(f.records)}, {"features", float64(f.features)}, {"nodes", float64(f.nodes)}, {"epochs", float64(f.epochs)},
		{"batch", float64(f.batch)}, {"seeds", float64(f.seeds)}, {"gamma-n", f.push.gammaN}, {"learning-rate", f.rate}, {"clip", f.clip},
	} {
		if !(c.value > 0) || math.IsInf(c.value, 1) {
			return fmt.Errorf("--%s %v: must be positive and finite", c.name, c.value)
		}
	}
	for _, b := range f.bs {
		if !(b > 0) || math.IsInf(b, 1) {
			return fmt.Errorf("--b %v: must be positive and finite", b)
		}
	}
	for _, s := range f.shared {
		if s < 1 || s > 3 {
			return fmt.Errorf("--shared %d: the model has three layers, of which at least one is shared", s)
		}
	}
	if f.push.sync < 0 {
		return fmt.Errorf("--sync %d: must not be negative", f.push.sync)
	}
	return checkEstimate(f.push.estimate)
}

// chooseTask returns the task and the number of its classes.
func (f *partFlags) chooseTask() (task simulate.Task, classes int, err error) {
	switch f.task {
	case "synthetic":
		if f.records < 10 || f.records*f.features > 1<<28 {
			return task, 0, fmt.Errorf("--records %d of %d features: must be from 10 records to 2^28 numbers", f.records, f.features)
		}
		return simulate.LogisticTask(f.records, f.features, syntheticClasses), syntheticClasses, nil
	case "mnist":
		if task, err = simulate.MNIST(f.data); err != nil {
			return task, 0, err
		}
		train, _ := task.Split(0)
		classes = syntheticClasses
		for _, y := range train.Targets {
			classes = max(classes, int(y)+1)
		}
		return task, classes, nil
	default:
		return task, 0, fmt.Errorf("unknown task %q: choose synthetic or mnist", f.task)
	}
}

// chooseNetworks makes the directed networks, with what their estimates take.
func (f *partFlags) chooseNetworks(ctx context.Context) ([]simulate.PartPSPNetwork, error) {
	var list []simulate.PartPSPNetwork
	for _, name := range f.networks {
		spec := fmt.Sprintf("exp:%d", f.nodes)
		if d, ok := strings.CutPrefix(name, "d-out:"); ok {
			spec = fmt.Sprintf("d-out:%d,%s", f.nodes, d)
		} else if name != "exp" {
			return nil, fmt.Errorf("unknown network %q: choose exp, or d-out:d with the number d of nodes that each sends to, itself among them", name)
		}
		s, _, err := circulant(spec)
		if err != nil {
			return nil, err
		}
		n := simulate.PartPSPNetwork{Name: name, Sequence: s}
		if n.Calibration, _, err = f.push.calibrate(ctx, s, nil); err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

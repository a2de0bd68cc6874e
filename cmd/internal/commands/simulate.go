package commands

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/lists"
	"mafalda/simulate"
	"mafalda/simulated"
)

type simulateFlags struct {
	runner *grids.Runner
	study  flags.SimulateFlags
	style  figures.Style
	terminal.Output
	shard  grids.ShardFlags
	attack flags.SimulateAttackFlags
}

// NewSimulate returns mafalda simulate, run for a runner.
func NewSimulate(runner *grids.Runner) *cobra.Command {
	f := simulateFlags{runner: runner}
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Train models with every method, to see what the noise costs",
		Long: `Train a model on a network with MF-D-SGD, for every method, level of privacy and seed, and compare the test losses. Every node has
a part of the records, in b batches that it visits in turn; that no record takes part more often, or sooner again, than a strategy
was made for is checked while training. Methods with the same seed have the same data, start and Z.

Methods: none (no noise), dp-d-sgd, antipgd, d-mf, mafalda (the certified optimum of this network, for gradients that answer to
errors as the task's do at the learning rate), mafalda-uncurved (for gradients that do not), mafalda-plain, and folders of exports.
How the task curves comes of its own records, which is not private: this is a simulation.
The noise protects a record against everybody who sees all messages: mu of Gaussian differential privacy.

With --sampling poisson nodes draw their batches in secret instead, and levels are given by --epsilon and --delta: every record
takes part with probability w/b in every w-th step, where w is the number of bands of a method's strategy (1 for dp-d-sgd), so that
batches are as large as cyclic ones in expectation. Noise is what the accountant of that asks for. Sums are divided by the expected
size, and empty batches take noise and a step. --sampling truncated is the same with batches of at most so many records that what
is dropped costs a thousandth of delta; with allocation every record takes part exactly k times, in steps drawn in secret.

Nodes train with momentum, learning rates that change (times --learning-rate), weight decay (times the rate), local steps, rounds
of gossip and gradient tracking, over networks that change or fail, and they may miss steps. mafalda, mafalda-uncurved and d-mf then
know of it, mafalda-plain is the optimum of the network that does not. An export that was made for such training brings it along, and is
refused for other flags. The line "noise" compares the squared error that the noise alone makes of the models with the predicted one. For
linear regression the loss above training without noise is predicted, too: it is off where gradients are clipped, and where batches
curve differently.

With --tune every method trains with several learning rates, and is compared at its own best one: that of the least mean loss on one
half of the test records, while losses are of the other half. Choosing it is not paid for in privacy.

With --attack NODE that node attacks real training instead, with dp-d-sgd: it is run many times with a record of the victim and
without it, and what the attacker's statistic of the messages that it sees reaches stands beside what is proven: the bound for the
class that the task is in (see mafalda smoothness; local DP where it is in none), and the number if gradients do not react.

With -o, write runs, table and figures; runs that are there already are not run again, so an interrupted simulation goes
on where it stopped, and more methods, levels and seeds can be added, also by several processes at once. All else, and
every byte that is read, has to be the same.

linear, logistic and perceptron (with tanh; with data, on images) are synthetic; housing and housing-linear need cal_housing.data (20,640 lines of 9 numbers, in
https://www.dcc.fc.up.pt/~ltorgo/Regression/cal_housing.tgz), mnist a folder with four IDX files.`,
		Example: `  mafalda simulate
  mafalda simulate --task housing:data=cal_housing.data --graph ego.edges --mu 0.1,0.2,0.5,1,2,5,10 --seeds 20 -o housing
  mafalda simulate --T 380 -k 20 --methods none,blt,dp-d-sgd --mu 0.5      # blt: a folder from mafalda optimize -o blt
  mafalda simulate --sampling poisson --epsilon 0.5,2,8                    # compare with the same levels without --sampling
  mafalda simulate --optimizer momentum:0.9 --learning-rates warmup-cosine --learning-rate 0.01
  mafalda simulate --T 64 -k 4 --mu 0.3,1 --tune                           # every method at its own learning rate
  mafalda simulate --missed-steps 0.1,carry
  mafalda simulate --task logistic --T 10 -k 1 --learning-rate 0.05 --attack Medici    # what a node learns of a record
  mafalda simulate --task logistic --graph erdos:50,0.2 --epsilon 2,8 --delta 1e-6 --json`,
		Args: terminal.NoArgs,
		RunE: terminal.UntilInterrupted(f.run),
	}
	f.study.Places = runner.Places
	f.study.Bind(cmd)
	flags.BindFigure(cmd, &f.style)
	f.Output.Bind(cmd, "write runs, table and figures to this `folder`, and go on with the runs there",
		"replace runs of other inputs", "print one JSON object instead of the table")
	f.shard.Bind(cmd)
	f.attack.Bind(cmd, &f.study)
	return cmd
}

func (f *simulateFlags) run(cmd *cobra.Command) error {
	if err := f.shard.Parse(cmd, f.runner, f.Dir, f.Force); err != nil {
		return err
	}
	if cmd.Flags().Changed("output") && f.Dir == "" {
		return terminal.Usagef("--output is empty: name a folder")
	}
	note := f.Note(cmd)
	if cmd.Flags().Changed("attack") {
		return f.attack.Run(cmd, &f.study, f.JSON, f.Quiet, note)
	}
	s, err := f.study.Study(cmd, f.Dir != "", note)
	if err != nil {
		return err
	}
	bar := f.Progress(cmd)
	cells := s.Cells()
	runs, whole, err := grids.Study[simulate.Cell, simulate.Result]{Dir: f.Dir, Force: f.Force, Spec: results.SimulationSpec(s), Cells: cells,
		Do: results.Simulating(s, bar, note), Files: results.SimulationFiles(s, f.style), Cell: "run", Shard: &f.shard,
		Cost: s.Seconds, Memory: func(int) float64 { return s.Memory() }, Command: cmd}.Run(cmd.Context(), f.runner, bar)
	if err != nil || !whole {
		return err
	}
	g := simulate.NewGrid(cells, runs)
	rows, err := g.Rows(s.Options().Delta)
	if err != nil {
		return err
	}
	data := map[string]any{"simulated": true, "note": simulated.Note, "rows": rows}
	return f.Show(cmd, data, func(w io.Writer) error { return f.print(w, results.Simulation{Study: s, Grid: g, Rows: rows}) })
}

func (f *simulateFlags) print(w io.Writer, r results.Simulation) error {
	d := r.Document()
	if err := d.Text(w); err != nil {
		return err
	}
	if d.EndsWithTable() {
		fmt.Fprintln(w)
	}
	seconds := lists.Map(r.Rows, func(row simulate.Row) float64 { return row.Seconds })
	fmt.Fprintf(w, "cost           %.3g s a run\n", slices.Max(append(seconds, 0)))
	written := cmp.Or(f.Dir, "nothing: use -o FOLDER to keep runs, table and figures")
	_, err := fmt.Fprintf(w, "written        %s\n", written)
	return err
}

package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/internal/study"
	"mafalda/participation"
	"mafalda/simulate"
	"mafalda/workload"
)

type simulateFlags struct {
	task, data                        string
	records                           int
	network                           cli.NetworkFlags
	steps, participations, separation int
	rounds                            int
	methods                           []string
	mus, epsilons                     []float64
	delta                             float64
	adjacency                         string
	seeds                             int
	learningRate, clip                float64
	testRows                          int
	out                               string
	force, json, quiet                bool
}

// The run that is simulated unless flags say otherwise.
const (
	simulatedGraph          = "florentine"
	simulatedSteps          = 320
	simulatedParticipations = 20
)

var simulatedTasks = []string{"linear", "logistic", "housing", "mnist"}

func newSimulateCmd() *cobra.Command {
	var f simulateFlags
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Train models with every method, to see what the noise costs",
		Long: `Train a model on a network with MF-D-SGD, for every method, level of privacy and seed, and compare the test losses. Every node has
a part of the records, in b batches that it visits in turn; that no record takes part more often, or sooner again, than a strategy
was made for is checked while training. Methods with the same seed have the same data, start and Z.

Methods: none (no noise), dp-d-sgd, antipgd, d-mf, mafalda (the certified optimum of this network), and folders of exports.
The noise protects a record against everybody who sees all messages: mu of Gaussian differential privacy.

With -o, write runs, table and figures; runs that are there already are not run again, so an interrupted simulation goes
on where it stopped, and more methods, levels and seeds can be added, also by several processes at once. All else, and
every byte that is read, has to be the same.

linear and logistic are synthetic; housing needs cal_housing.data (20,640 lines of 9 numbers, see
https://www.openml.org/d/823), mnist a folder with four IDX files.`,
		Example: `  mafalda simulate
  mafalda simulate --task housing --data cal_housing.data --graph ego.edges --mu 0.1,0.2,0.5,1,2,5,10 --seeds 20 -o housing
  mafalda simulate --T 380 -k 20 --methods none,blt,dp-d-sgd --mu 0.5      # blt: a folder from mafalda optimize -o blt
  mafalda simulate --task logistic --graph erdos:50,0.2 --epsilon 2,8 --delta 1e-6 --json`,
		Args: cli.NoArgs,
		RunE: cli.UntilInterrupted(f.run),
	}
	fl := cmd.Flags()
	fl.StringVar(&f.task, "task", "linear", "what is learned: linear, logistic, housing or mnist")
	fl.StringVar(&f.data, "data", "", "`path` of the data of housing (a file) or mnist (a folder)")
	fl.Var((*cli.WholeNumber)(&f.records), "records", "records of a synthetic task (default 4000)")
	f.network.BindGraph(cmd)
	f.network.BindGossip(cmd)
	fl.VarP((*cli.WholeNumber)(&f.steps), "T", "T", "steps (default 320)")
	fl.VarP((*cli.WholeNumber)(&f.participations), "participations", "k", "epochs: how often a record takes part (default 20 if 20 divides T)")
	fl.VarP((*cli.WholeNumber)(&f.separation), "separation", "b", "batches of a node: steps between participations (default T/k)")
	f.rounds = 1
	fl.Var((*cli.WholeNumber)(&f.rounds), "rounds", "gossip rounds in a step")
	fl.StringSliceVar(&f.methods, "methods", []string{"none", "dp-d-sgd", "antipgd", "d-mf", "mafalda"}, "what to compare; folders of exports, too")
	fl.Float64SliceVar(&f.mus, "mu", []float64{0.2, 0.5, 1}, "levels of privacy, of Gaussian DP")
	fl.Float64SliceVar(&f.epsilons, "epsilon", nil, "levels of privacy as epsilons for --delta, instead of --mu")
	fl.Float64Var(&f.delta, "delta", 1e-6, "for which epsilon is reported")
	fl.StringVar(&f.adjacency, "adjacency", "zero-out", "neighbouring datasets: zero-out (a record or nothing) or replace-one (twice the noise)")
	f.seeds = 10
	fl.Var((*cli.WholeNumber)(&f.seeds), "seeds", "runs of every method at every level")
	fl.Float64Var(&f.learningRate, "learning-rate", 0, "of the steps (default: one that suits the task)")
	fl.Float64Var(&f.clip, "clip", 1, "norm to which each record's gradient is clipped")
	f.testRows = 256
	fl.Var((*cli.WholeNumber)(&f.testRows), "test-rows", "test records that losses are of while training; all of them at the end (0: always all)")
	fl.StringVarP(&f.out, "output", "o", "", "write runs, table and figures to this `folder`, and go on with the runs there")
	fl.BoolVar(&f.force, "force", false, "replace runs of other inputs")
	fl.BoolVar(&f.json, "json", false, "print one JSON object instead of the table")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only (and the JSON, with --json)")
	cli.CompleteWith(cmd, "task", simulatedTasks)
	cli.CompleteWith(cmd, "methods", methodNames)
	cli.CompleteWith(cmd, "adjacency", accounting.Adjacencies())
	return cmd
}

// simulation is a simulate command whose flags and input have been checked.
type simulation struct {
	flags     *simulateFlags
	network   *graph.Network
	config    simulate.Config
	data      string // hash of its files
	adjacency accounting.Adjacency
	levels    []float64 // μ
	methods   []method
	notes     io.Writer
	progress  *cli.Progress
}

func (f *simulateFlags) run(cmd *cobra.Command) error {
	s, err := f.prepare(cmd)
	if err != nil {
		return err
	}
	store, err := study.Open[cell, keptRun](f.out, s.spec())
	if err != nil {
		return cli.StudyError(err)
	}
	err = study.Run(cmd.Context(), store, s.cells(), s.run, study.Options{Progress: s.progress.ShowAt})
	s.progress.Clear()
	if err != nil {
		err = cli.StoppedError(err, f.out, "run")
	}
	if err := cli.Summarize(cmd.Context(), store, err, s.files); err != nil {
		return err
	}
	g, err := s.asked(store)
	if err != nil {
		return err
	}
	return s.finish(cmd.OutOrStdout(), g)
}

// prepare checks flags and input, cheapest first.
func (f *simulateFlags) prepare(cmd *cobra.Command) (*simulation, error) {
	s := &simulation{flags: f, notes: cmd.ErrOrStderr(), progress: cli.NewProgress(cmd.ErrOrStderr(), f.quiet)}
	if err := f.check(cmd); err != nil {
		return nil, err
	}
	schema, err := f.schema(cmd)
	if err != nil {
		return nil, cli.Usage(err)
	}
	if err := f.checkRoom(schema.Steps()); err != nil {
		return nil, err
	}
	if s.adjacency, err = accounting.ParseAdjacency(f.adjacency); err != nil {
		return nil, cli.Usage(err)
	}
	if s.levels, err = f.levels(cmd); err != nil {
		return nil, cli.Usage(err)
	}
	if f.network.Source == "" && f.network.GossipFile == "" {
		f.network.Source = simulatedGraph
	}
	if s.network, err = f.network.Load(); err != nil {
		return nil, err
	}
	if !f.quiet {
		for _, note := range s.network.Notes {
			fmt.Fprintln(s.notes, note)
		}
	}
	if s.methods, err = s.chooseMethods(schema); err != nil {
		return nil, err
	}
	testRows := f.testRows
	if testRows == 0 {
		testRows = -1
	}
	s.config = simulate.Config{Gossip: s.network.Gossip.Matrix(), Schema: schema, Batches: schema.Separation(), Rounds: f.rounds,
		LearningRate: f.learningRate, Clip: f.clip, TestRows: testRows, Every: max(schema.Steps()/64, 1)}
	if s.config.Task, s.data, err = f.chooseTask(cmd); err != nil {
		return nil, cli.Usage(err)
	}
	if s.config.LearningRate == 0 {
		s.config.LearningRate = s.config.Task.LearningRate
	}
	steps, nodes := float64(schema.Steps()), float64(s.network.Graph.Nodes())
	need := 4*nodes*float64(s.config.Task.Model.Size())*(steps+3) + matricesBytes(schema.Steps())
	if f.rounds > 1 {
		need += 3 * 8 * nodes * nodes
	}
	if err := cli.CheckMemory(fmt.Sprintf("T = %.0f on %.0f nodes with %d parameters", steps, nodes,
		s.config.Task.Model.Size()), need); err != nil {
		return nil, err
	}
	if err := simulate.CheckCycle(schema, s.config.Batches); err != nil {
		return nil, cli.Usage(fmt.Errorf("%w: T must be at most k·b", err))
	}
	return s, nil
}

func (f *simulateFlags) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	for name, v := range map[string]int{"seeds": f.seeds, "rounds": f.rounds} {
		if v < 1 {
			return cli.Usagef("--%s %d: must be at least 1", name, v)
		}
	}
	for name, v := range map[string]float64{"clip": f.clip, "learning-rate": f.learningRate} {
		if (name == "clip" || given(name)) && (!(v > 0) || math.IsInf(v, 1)) {
			return cli.Usagef("--%s %v: must be positive and finite", name, v)
		}
	}
	for name, v := range map[string]int{"T": f.steps, "participations": f.participations, "separation": f.separation, "records": f.records} {
		if given(name) && v < 1 {
			return cli.Usagef("--%s %d: must be at least 1", name, v)
		}
	}
	switch {
	case f.testRows < 0:
		return cli.Usagef("--test-rows %d: must not be negative", f.testRows)
	case !(f.delta > 0 && f.delta < 1):
		return cli.Usagef("--delta %v: must be between 0 and 1", f.delta)
	case given("mu") && given("epsilon"):
		return cli.Usagef("--mu and --epsilon: only one of them")
	case given("output") && f.out == "":
		return cli.Usagef("--output is empty: name a folder")
	case !slices.Contains(simulatedTasks, f.task):
		return cli.Usagef("--task %q: must be linear, logistic, housing or mnist", f.task)
	}
	return nil
}

// schema returns who takes part when: by default that of the paper's experiment.
func (f *simulateFlags) schema(cmd *cobra.Command) (participation.Schema, error) {
	if !cmd.Flags().Changed("T") {
		f.steps = simulatedSteps
		if k, b := f.participations, f.separation; k > 0 && b > 0 {
			f.steps = k * b
		} else if b > 0 {
			f.steps = simulatedParticipations * b
		}
	}
	return participation.Complete(f.steps, f.participations, f.separation)
}

// levels returns the μ's, each once, ascending.
func (f *simulateFlags) levels(cmd *cobra.Command) ([]float64, error) {
	mus := slices.Clone(f.mus)
	if cmd.Flags().Changed("epsilon") {
		mus = nil
		for _, epsilon := range f.epsilons {
			mu, err := accounting.MuFromDP(epsilon, f.delta)
			if err != nil {
				return nil, fmt.Errorf("--epsilon %v: %w", epsilon, err)
			}
			mus = append(mus, mu)
		}
	}
	for _, mu := range mus {
		if !(mu > 0) || math.IsInf(mu, 1) {
			return nil, fmt.Errorf("--mu %v: must be positive and finite", mu)
		}
	}
	slices.Sort(mus)
	return slices.Compact(mus), nil
}

// chooseTask returns the task, and a hash of its files.
func (f *simulateFlags) chooseTask(cmd *cobra.Command) (simulate.Task, string, error) {
	records := f.records
	if records == 0 {
		records = 4000
	}
	synthetic := f.task == "linear" || f.task == "logistic"
	switch {
	case synthetic && f.data != "":
		return simulate.Task{}, "", fmt.Errorf("--task %s makes its own data: leave out --data", f.task)
	case !synthetic && cmd.Flags().Changed("records"):
		return simulate.Task{}, "", fmt.Errorf("--task %s has its own records: leave out --records", f.task)
	case records < 10:
		return simulate.Task{}, "", fmt.Errorf("--records %d: must be at least 10", records)
	case f.task == "linear":
		return simulate.LinearTask(records, simulatedFeatures), fmt.Sprint(records), nil
	case f.task == "logistic":
		return simulate.LogisticTask(records, simulatedFeatures, simulatedClasses), fmt.Sprint(records), nil
	case f.task == "mnist":
		task, err := simulate.MNIST(f.data)
		return task, dataHash(task), err
	}
	task, err := simulate.Housing(f.data)
	return task, dataHash(task), err
}

// gram returns the Gram matrix of the run's workload.
func (s *simulation) gram(ctx context.Context) (*mat.SymDense, error) {
	w := s.config.Gossip
	if s.config.Rounds > 1 {
		var power mat.Dense
		power.Pow(w.ToDense(), s.config.Rounds)
		w = graph.NewCSRFromDense(&power)
	}
	return workload.Gram(ctx, w, s.config.Schema.Steps(), workload.Options{})
}

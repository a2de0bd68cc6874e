package flags

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/accounting"
	"mafalda/cmd/internal/terminal"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/simulate"
	"mafalda/workload"
)

// The run that is simulated unless flags say otherwise.
const (
	simulatedGraph          = "florentine"
	simulatedSteps          = 320
	simulatedParticipations = 20
)

// SimulateFlags say what is trained, where and how often: simulate.Study.
type SimulateFlags struct {
	Places map[string]string // where the folders of methods are, by their paths, as far as they are in other places

	task                              simulate.TaskOptions
	network                           NetworkFlags
	workload                          WorkloadFlags
	steps, participations, separation int
	config                            simulate.Config       // what flags bind directly
	options                           simulate.StudyOptions // likewise
	adjacency, sampling               string
}

// Bind binds the flags to a command.
func (f *SimulateFlags) Bind(cmd *cobra.Command) {
	fl := cmd.Flags()
	bindTask(cmd, &f.task, "linear", "what is learned: ")
	f.network.BindGraph(cmd)
	f.network.BindGossip(cmd)
	fl.VarP((*terminal.WholeNumber)(&f.steps), "T", "T", "steps (default 320)")
	fl.VarP((*terminal.WholeNumber)(&f.participations), "participations", "k",
		"epochs: how often a record takes part (default 20 if 20 divides T)")
	fl.VarP((*terminal.WholeNumber)(&f.separation), "separation", "b",
		"batches of a node: steps between participations (default T/k)")
	f.workload.Bind(cmd, &f.network)
	fl.StringSliceVar(&f.options.Methods, "methods", simulate.MethodsFor(participation.InTurn, workload.Spec{}),
		"what to compare; folders of exports, too; and mafalda-plain, which ignores what is more than plain training\n"+
			"(there by default if there is more)")
	terminal.NumbersVar(fl, &f.options.Tune, "tune", nil,
		"train with several learning rates, these times --learning-rate, and compare every method at its own best one, by\n"+
			"the loss on test records kept apart; that is not paid for in privacy")
	fl.Lookup("tune").NoOptDefVal = "0.03,0.1,0.3,1,3"
	terminal.NumbersVar(fl, &f.options.Mus, "mu", []float64{0.2, 0.5, 1}, "levels of privacy, of Gaussian DP")
	terminal.NumbersVar(fl, &f.options.Epsilons, "epsilon", nil, "levels of privacy as epsilons for --delta, instead of --mu")
	fl.Float64Var(&f.options.Delta, "delta", 1e-6, "for which epsilon is reported")
	terminal.ChoiceVar(cmd, &f.adjacency, "adjacency", "zero-out", accounting.Adjacencies(),
		"neighbouring datasets: zero-out (a record or nothing) or replace-one (twice the noise)")
	terminal.ChoiceVar(cmd, &f.sampling, "sampling", participation.InTurn.String(), participation.Schemes(),
		"batches: cyclic (cut once, visited in turn), poisson (drawn in secret, of as many records in expectation),\n"+
			"truncated (poisson with a largest batch), allocation (exactly k times, in steps drawn in secret) or bins (drawn once,\n"+
			"in secret, independently for every record: no permutation cut into equal batches)")
	terminal.Whole(fl, &f.options.Bandwidth, "sampling bandwidth",
		"bands of mafalda's strategy with poisson (default: the best power of 2) or bins (default: all)")
	terminal.Family(cmd, "sampling", "")
	f.options.Seeds = 10
	terminal.Whole(fl, &f.options.Seeds, "seeds", "runs of every method at every level")
	fl.Float64Var(&f.config.LearningRate, "learning-rate", 0, "of the steps (default: one that suits the task)")
	fl.Float64Var(&f.config.Clip, "clip", 1, "norm to which each record's gradient is clipped")
	f.config.TestRows = 256
	terminal.Whole(fl, &f.config.TestRows, "task test-rows",
		"test records that losses are of while training; all of them at the end (0: always all)")
	terminal.Family(cmd, "task", "")
	terminal.CompleteWithFiles(cmd, "methods", simulate.MethodNames())
}

// Study checks flags and input, cheapest first, and returns the study; kept is whether it will have a folder. What a
// user should know of its network and methods is handed to note.
func (f *SimulateFlags) Study(cmd *cobra.Command, kept bool, note func(...string)) (*simulate.Study, error) {
	if err := f.check(cmd); err != nil {
		return nil, err
	}
	schema, err := f.schema(cmd)
	if err != nil {
		return nil, terminal.Usage(err)
	}
	spec, err := f.workload.Spec(cmd)
	if err == nil { // decay waits for the rate of the task, if none is given
		err = spec.At(f.config.LearningRate).Check(schema.Steps())
	}
	if err != nil {
		return nil, terminal.Usage(err)
	}
	options, err := f.studyOptions(cmd, spec)
	if err != nil {
		return nil, err
	}
	if err := f.checkRoom(schema.Steps(), options, kept); err != nil {
		return nil, err
	}
	if options.Adjacency, err = accounting.ParseAdjacency(f.adjacency); err != nil {
		return nil, terminal.Usage(err)
	}
	if err := options.Check(); err != nil {
		return nil, SimulateError(err)
	}
	if err := f.task.Check(); err != nil {
		return nil, SimulateError(err)
	}
	n, config, err := f.inputs(schema, spec, note)
	if err != nil {
		return nil, err
	}
	s, err := simulate.NewStudy(n, config, options)
	if err != nil {
		return nil, SimulateError(err)
	}
	note(s.Notes()...)
	return s, nil
}

// load reads or makes the network; the default one where no flag names another.
func (f *SimulateFlags) load() (*graph.Network, error) {
	network := f.network
	if network.Source == "" && network.GossipFile() == "" {
		network.Source = simulatedGraph
	}
	return network.Load()
}

// inputs reads the network and the task, and returns them with what is trained.
func (f *SimulateFlags) inputs(schema participation.Schema, spec workload.Spec, note func(...string)) (*graph.Network,
	simulate.Config, error) {
	n, err := f.load()
	if err != nil {
		return nil, simulate.Config{}, err
	}
	note(n.Notes...)
	config := f.config
	config.Schema, config.Workload = schema, spec
	if config.TestRows == 0 {
		config.TestRows = -1 // all
	}
	if config.Task, err = simulate.LoadTask(f.task); err != nil {
		return nil, simulate.Config{}, SimulateError(err)
	}
	return n, config, nil
}

// studyOptions returns the options of the study, without the adjacency. Defaults depend on the sampling.
func (f *SimulateFlags) studyOptions(cmd *cobra.Command, spec workload.Spec) (o simulate.StudyOptions, err error) {
	given := cmd.Flags().Changed
	o = f.options
	o.Folders = f.Places
	if o.Sampling, err = participation.ParseScheme(f.sampling); err != nil {
		return o, SimulateError(err)
	}
	if !given("methods") {
		if f.network.GraphSequence != "" { // it comes with the network
			spec.GraphSequence = new(workload.Sequence)
		}
		o.Methods = simulate.MethodsFor(o.Sampling, spec)
	}
	if given("epsilon") || !given("mu") && o.Sampling != participation.InTurn {
		o.Mus = nil
	}
	return o, nil
}

// check finds wrong values of flags that stand for defaults in the library, and flags that do not go together.
func (f *SimulateFlags) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	if err := terminal.AtLeastOne(cmd, "T", "participations", "separation", "sampling bandwidth", "task records", "seeds"); err != nil {
		return err
	}
	if err := terminal.Positive(cmd, "clip", "learning-rate"); err != nil {
		return err
	}
	switch {
	case f.config.TestRows < 0:
		return terminal.Usagef("--task test-rows %d: must not be negative", f.config.TestRows)
	case given("mu") && given("epsilon"):
		return terminal.Usagef("--mu and --epsilon: only one of them")
	}
	return nil
}

// schema returns who takes part when: by default as in the paper's experiment.
func (f *SimulateFlags) schema(cmd *cobra.Command) (participation.Schema, error) {
	steps := f.steps
	if !cmd.Flags().Changed("T") {
		steps = simulatedSteps
		if k, b := f.participations, f.separation; k > 0 && b > 0 {
			steps = k * b
		} else if b > 0 {
			steps = simulatedParticipations * b
		}
	}
	return participation.Complete(steps, f.participations, f.separation)
}

// checkRoom refuses what flags alone show to be too large: steps, records, and runs that are kept.
func (f *SimulateFlags) checkRoom(steps int, o simulate.StudyOptions, kept bool) error {
	err := cmp.Or(terminal.CheckMemory(fmt.Sprintf("T = %d", steps), simulate.StrategyNeeds(steps)),
		terminal.CheckMemory(fmt.Sprintf("--task records %d", f.task.Records), f.task.Needs()))
	if err != nil {
		return err
	}
	what := fmt.Sprintf("--seeds %d, %.3g runs in all,", o.Seeds, o.Runs())
	return terminal.CheckMemory(what, o.Needs(steps, kept))
}

// SimulateError marks the errors of a study as ones of usage, and says what to do about arguments that are not for it.
func SimulateError(err error) error {
	if a, is := errors.AsType[*fault.Argument](err); is && a.Value == nil {
		switch a.Field {
		case "Data":
			return terminal.Usagef("--task: %s: leave out data", a.Reason)
		case "Records":
			return terminal.Usagef("--task: %s: leave out records", a.Reason)
		case "Methods":
			return terminal.Usagef("--methods %s: name some of %s, or folders of exports", a.Reason,
				strings.Join(simulate.MethodNames(), ", "))
		}
	}
	return terminal.Usage(err)
}

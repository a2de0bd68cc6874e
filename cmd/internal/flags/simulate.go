package flags

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

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
}

// Study checks flags and input, cheapest first, and returns the study; kept is whether it will have a folder. What a
// user should know of its network and methods is handed to note.
func (f *SimulateFlags) Study(cmd *cobra.Command, kept bool, note func(...string)) (*simulate.Study, error) {
	config, err := f.training(cmd)
	if err != nil {
		return nil, err
	}
	steps := config.Schema.Steps() // decay waits for the rate of the task, if none is given
	if err := config.Workload.At(config.LearningRate).Check(steps); err != nil {
		return nil, terminal.Usage(err)
	}
	options, err := f.studyOptions(cmd, config.Workload)
	if err != nil {
		return nil, err
	}
	if err := f.checkRoom(steps, options, kept); err != nil {
		return nil, err
	}
	if err := options.Check(); err != nil {
		return nil, SimulateError(err)
	}
	n, err := f.inputs(&config, note)
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

// training returns what flags say of the training, without the task.
func (f *SimulateFlags) training(cmd *cobra.Command) (c simulate.Config, err error) {
	c = f.config
	if c.TestRows == 0 {
		c.TestRows = -1 // all
	}
	if c.Schema, err = f.schema(cmd); err == nil {
		c.Workload, err = f.workload.Spec(cmd)
	}
	return c, terminal.Usage(err)
}

// Load reads or makes the network; the default one where no flag names another.
func (f *SimulateFlags) Load() (*graph.Network, error) {
	network := f.network
	if network.Source == "" && network.GossipFile() == "" {
		network.Source = simulatedGraph
	}
	return network.Load()
}

// inputs reads the network and the task, and adds the task to what is trained.
func (f *SimulateFlags) inputs(c *simulate.Config, note func(...string)) (*graph.Network, error) {
	if err := f.task.Check(); err != nil {
		return nil, SimulateError(err)
	}
	n, err := f.Load()
	if err != nil {
		return nil, err
	}
	note(n.Notes...)
	c.Task, err = simulate.LoadTask(f.task)
	return n, SimulateError(err)
}

// studyOptions returns the options of the study. Defaults depend on the sampling.
func (f *SimulateFlags) studyOptions(cmd *cobra.Command, spec workload.Spec) (o simulate.StudyOptions, err error) {
	given := cmd.Flags().Changed
	o = f.options
	if o.Methods, o.Folders, err = f.named(); err != nil {
		return o, err
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

// named returns the methods, and where the folders of exports are: those that are called name=folder by their names.
func (f *SimulateFlags) named() (methods []string, folders map[string]string, err error) {
	folders = map[string]string{}
	maps.Copy(folders, f.Places)
	for _, m := range f.options.Methods {
		name, folder, is := strings.Cut(m, "=")
		if _, err := os.Stat(m); is && err != nil {
			if slices.Contains(simulate.MethodNames(), name) || folders[name] != "" {
				return nil, nil, terminal.Usagef("--methods %s: %q is the name of another method", m, name)
			}
			m, folders[name] = name, cmp.Or(f.Places[folder], folder)
		}
		methods = append(methods, m)
	}
	return methods, folders, nil
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

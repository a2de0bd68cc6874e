package flags

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/terminal"
	"mafalda/measure"
	"mafalda/simulate"
	"mafalda/workload"
)

// LossFlags say what is known of the loss that is trained: a measure.Training, and the records of a node.
type LossFlags struct {
	CurvatureFlags
	distance []float64
	rate     float64
	records  terminal.WholeNumber
	task     simulate.TaskOptions
}

// Bind binds the flags to a command.
func (f *LossFlags) Bind(cmd *cobra.Command) {
	f.risk = workload.ExcessRisk
	fl := cmd.Flags()
	fl.StringVar(&f.curvature, "curvature", "",
		"second derivatives of the loss, times --learning-rate: numbers, or a `FILE` with lines \"x,directions\".\n"+
			"Ways are then compared by their predicted excess risk, each at its best rate and number of steps")
	fl.Float64SliceVar(&f.distance, "distance", []float64{1},
		"with --curvature, of the first model from the optimum: in all directions together, or one a second derivative")
	fl.Float64Var(&f.rate, "learning-rate", 1, "with --curvature, the base rate that it has in it")
	fl.Var(&f.records, "records", "with --curvature, the records of a node, in batches of T/k steps (required)")
	bindTask(cmd, &f.task, "", "instead of --curvature, the spectrum, distance and records of a task of mafalda simulate: ")
	terminal.Family(cmd, "task", "")
	terminal.InGroup(cmd, trainingGroup, "curvature", "distance", "learning-rate", "records", "task")
}

// bindTask binds --task and what is about its data.
func bindTask(cmd *cobra.Command, t *simulate.TaskOptions, name, what string) {
	terminal.ChoiceVar(cmd, &t.Name, "task", name, simulate.TaskNames(), what+strings.Join(simulate.TaskNames(), ", "))
	cmd.Flags().StringVar(&t.Data, "task data", "", "`path` of the data of housing and housing-linear (a file), or mnist and perceptron (a folder)")
	terminal.Whole(cmd.Flags(), &t.Records, "task records", "records of a synthetic task (default 4000)")
}

// Task returns the name of the task; empty if none is given.
func (f *LossFlags) Task() string { return f.task.Name }

// OfTask returns what Choose does, of a task dealt to so many nodes; nil if no task is given.
func (f *LossFlags) OfTask(clip float64, nodes int) (*measure.Training, int, error) {
	if f.task.Name == "" {
		return nil, 0, nil
	}
	task, err := simulate.LoadTask(f.task)
	if err != nil {
		return nil, 0, SimulateError(err)
	}
	t, records, err := task.Training(clip, nodes)
	return &t, records, SimulateError(err)
}

// Choose returns what is known of the loss, and the records of a node; nil for no curvature, or that of a task.
func (f *LossFlags) Choose(cmd *cobra.Command) (*measure.Training, int, error) {
	if f.task != (simulate.TaskOptions{}) {
		return nil, 0, cmp.Or(terminal.AtLeastOne(cmd, "task records"), SimulateError(f.task.Check()),
			terminal.Refuse(cmd, "--task says how its loss curves: leave out --%s", "curvature", "distance", "learning-rate", "records"))
	}
	spectrum, err := f.CurvatureFlags.Choose(cmd)
	switch {
	case err != nil:
		return nil, 0, err
	case spectrum == nil:
		return nil, 0, terminal.Refuse(cmd, "--%s is of --curvature: how does the loss curve?", "distance", "learning-rate", "records")
	case spectrum.Unknown():
		return nil, 0, terminal.Usagef("--curvature of an interval says too little to predict a training: give numbers")
	case f.records < 1:
		return nil, 0, terminal.Usagef("--curvature needs --records: how many has a node?")
	}
	t := measure.Training{Rate: f.rate, X: spectrum.X, Directions: spectrum.Directions, Distances: f.distance}
	if len(f.distance) == 1 {
		t = t.Evenly(f.distance[0])
	}
	return &t, int(f.records), nil
}

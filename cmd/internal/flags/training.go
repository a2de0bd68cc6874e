package flags

import (
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

// Task returns the name of the task; empty if none is given.
func (f *LossFlags) Task() string { return f.task.Name }

// OfTask returns what Choose does, of a task dealt to these nodes; nil if no task is given.
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
		return nil, 0, SimulateError(f.task.Check())
	}
	f.risk = workload.ExcessRisk
	spectrum, err := f.CurvatureFlags.Choose(cmd)
	switch {
	case err != nil:
		return nil, 0, err
	case spectrum == nil:
		return nil, 0, nil
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

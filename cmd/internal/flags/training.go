package flags

import (
	"github.com/spf13/cobra"

	"mafalda/cmd/internal/terminal"
	"mafalda/measure"
	"mafalda/workload"
)

// LossFlags say what is known of the loss that is trained: a measure.Training, and the records of a node.
type LossFlags struct {
	CurvatureFlags
	distance []float64
	rate     float64
	records  terminal.WholeNumber
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
	terminal.InGroup(cmd, trainingGroup, "curvature", "distance", "learning-rate", "records")
}

// Choose returns what is known of the loss, and the records of a node; nil for no curvature.
func (f *LossFlags) Choose(cmd *cobra.Command) (*measure.Training, int, error) {
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

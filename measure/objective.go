package measure

import (
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/internal/enum"
	"mafalda/workload"
)

// Objective says which steps' errors are to be small.
type Objective int

const (
	// Mean is the squared error of all steps together.
	Mean Objective = iota
	// Worst is the squared error of the worst step.
	Worst
	// Last is the squared error of the model after the last step.
	Last
)

// kinds are what the objectives are for the optimizers.
var kinds = [...]factorize.Kind{factorize.MeanError, factorize.WorstStep, factorize.LastStep}

var objectives = enum.Of[Objective]("objective", kinds[Mean].String(), kinds[Worst].String(), kinds[Last].String())

// Objectives returns all objectives.
func Objectives() []Objective { return []Objective{Mean, Worst, Last} }

// ParseObjective returns the objective of this name.
func ParseObjective(name string) (Objective, error) { return objectives.Parse(name) }

// ObjectiveOf returns the objective of a manifest: Mean if it names none. It fails as ParseObjective does.
func ObjectiveOf(m *export.Manifest) (Objective, error) {
	if m.Objective == "" {
		return Mean, nil
	}
	return ParseObjective(m.Objective)
}

// String returns "mean", "max" or "last".
func (o Objective) String() string { return objectives.Name(o) }

// About says in a few words whose squared error it is.
func (o Objective) About() string {
	return [...]string{"the squared error of all steps together", "of the worst step", "of the model after the last step"}[o]
}

// Tolerance is the certified relative gap that a search stops at if none is asked for.
func (o Objective) Tolerance() float64 { return kinds[o].DefaultGap() }

// ForKernel returns the objective of a workload.
func (o Objective) ForKernel(k *workload.Kernel) factorize.Objective {
	switch o {
	case Worst:
		return factorize.Worst(k)
	case Last:
		return factorize.Last(k)
	}
	return factorize.Mean(k.Gram())
}

// Steps returns how many steps' errors, of all, the squared error of a workload sums.
func (o Objective) Steps(s workload.Spec, all int) float64 {
	if o == Mean {
		return s.Counted(all)
	}
	return 1
}

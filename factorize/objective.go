package factorize

import (
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/fault"
	"mafalda/participation"
)

// Kind says which errors an objective counts, and from what it knows them.
type Kind int

const (
	// MeanError is the squared error of all steps together, by its Gram matrix.
	MeanError Kind = iota
	// WorstStep is the squared error of the worst step.
	WorstStep
	// LastStep is the squared error of the model after the last step alone.
	LastStep
	// ManySteps is the squared error of all steps together, by a Response: for more steps than matrices of T×T have
	// room for.
	ManySteps
)

// String returns the name of the kind: "mean", "max", "last", or "mean of many steps".
func (k Kind) String() string {
	return [...]string{"mean", "max", "last", "mean of many steps"}[k]
}

// DefaultGap is the certified relative gap that searches for the objective stop at if none is asked for. Of the worst
// and the last step the last digits take long.
func (k Kind) DefaultGap() float64 { return [...]float64{1e-6, 1e-3, 1e-2, 1e-6}[k] }

// An Objective is the error that a strategy is to make small, and all that this package sees of a workload. It is made
// by Mean, Worst, Last or Long.
type Objective struct {
	kind      Kind
	gram      *mat.SymDense // Gram matrix of MeanError
	steps     StepErrors    // errors of WorstStep and LastStep
	responses Responses     // responses of ManySteps
}

// Mean returns the objective tr(C⁻ᵀ H C⁻¹) for the T×T Gram matrix h, which is kept and not changed.
func Mean(h *mat.SymDense) Objective { return Objective{kind: MeanError, gram: h} }

// Worst returns the objective max_t e_t for the errors e_t of single steps.
func Worst(e StepErrors) Objective { return Objective{kind: WorstStep, steps: e} }

// Last returns the objective e_(T-1), the error of the last step.
func Last(e StepErrors) Objective { return Objective{kind: LastStep, steps: e} }

// Long returns the objective of Mean as a response to the coefficients of C⁻¹, which Toeplitz strategies have. Nothing
// of size T×T is made for it.
func Long(r Responses) Objective { return Objective{kind: ManySteps, responses: r} }

// Kind returns the kind of the objective.
func (o Objective) Kind() Kind { return o.kind }

// check refuses an objective of nothing, or of other steps than the schema's.
func (o Objective) check(schema participation.Schema) error {
	n := schema.Steps()
	switch {
	case o.kind == ManySteps && o.responses != nil:
	case o.gram != nil:
		n = o.gram.SymmetricDim()
	case o.steps != nil:
		n = o.steps.Steps()
	default:
		return fault.New("Objective", nil, "no Gram matrix, errors of steps or responses")
	}
	if n != schema.Steps() {
		return fault.New("Objective", nil, "a workload of %d steps for a schema of %d", n, schema.Steps())
	}
	return nil
}

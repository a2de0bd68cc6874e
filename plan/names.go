package plan

import (
	"mafalda/internal/fault"
	"mafalda/internal/limits"
	"mafalda/measure"
)

// What a problem says of its objective and its Gram matrix: see package measure.
type (
	Objective = measure.Objective
	Gram      = measure.Gram
)

// The objectives, and the ways to a Gram matrix.
const (
	Mean  = measure.Mean
	Worst = measure.Worst
	Last  = measure.Last

	GramAuto    = measure.GramAuto
	GramExact   = measure.GramExact
	GramLanczos = measure.GramLanczos
	GramSampled = measure.GramSampled
)

// ErrEstimate is the error of an estimate that says nothing of the optimum: it takes more probes and Lanczos steps.
var ErrEstimate = measure.ErrEstimate

// ArgumentError is the error about a bad argument, of this package and of all rooms below it: it names the field of the options
// struct that the argument was in. Programs look for it with errors.As(err, &e), where e is a *plan.ArgumentError.
type ArgumentError = fault.Argument

// ErrMemory is the error of problems that need more memory than there is: than the machine has, or than its container
// or GOMEMLIMIT allow.
var ErrMemory = limits.ErrMemory

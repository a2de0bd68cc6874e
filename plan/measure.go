package plan

import (
	"mafalda/factorize/baselines"
	"mafalda/measure"
)

// What a problem says of its objective and its Gram matrix: see package measure.
type (
	Objective  = measure.Objective
	Gram       = measure.Gram
	GramMethod = measure.GramMethod
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

// Names of baselines: see package baselines.
const (
	MeanOptimal = baselines.MeanOptimal
	LDPOptimal  = baselines.LDPOptimal
	DECOR       = baselines.DECOR
	DECORInTime = baselines.DECORInTime
)

// ErrEstimate is the error of an estimate that says nothing of the optimum: it takes more probes and Lanczos steps.
var ErrEstimate = measure.ErrEstimate

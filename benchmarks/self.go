package benchmarks

import (
	"errors"

	"mafalda/export"
)

// SelfProblem is an optimization that a program measures itself with, as a whole: graph, Gram matrix, optimum,
// certificate, export.
type SelfProblem struct {
	Name           string
	Graph          string // specification of a built-in one
	FromFile       bool   // the graph is made first, as a file that the program reads
	Steps          int    // T
	Participations int    // k; 0: the default of optimize
	Class          string // of strategies; empty: the default
	Baselines      bool   // compare with them
	Large          bool   // takes minutes
}

// SelfProblems returns the problems, from small to large.
func SelfProblems() []SelfProblem {
	const ego, million = "barabasi:148,12", "barabasi:1000000,5"
	return []SelfProblem{
		{Name: "florentine, T = 380", Graph: "florentine", Steps: 380},
		{Name: "148 nodes, T = 380", Graph: ego, Steps: 380},
		{Name: "148 nodes, T = 380, with baselines", Graph: ego, Steps: 380, Baselines: true},
		{Name: "148 nodes, T = 380, BLT of 4 buffers", Graph: ego, Steps: 380, Class: "blt"},
		{Name: "4,039 nodes, T = 380", Graph: "barabasi:4039,22", Steps: 380},
		{Name: "florentine, T = 1024", Graph: "florentine", Steps: 1024, Participations: 16, Large: true},
		{Name: "florentine, T = 2048", Graph: "florentine", Steps: 2048, Participations: 32, Large: true},
		{Name: "10⁶ nodes, 5·10⁶ edges, T = 1024", Graph: million, FromFile: true, Steps: 1024, Participations: 16,
			Large: true},
		{Name: "10⁶ nodes, T = 10⁵, BLT of 4 buffers", Graph: million, FromFile: true, Steps: 100000, Participations: 100,
			Class: "blt", Baselines: true, Large: true},
	}
}

// SelfRow is a measured problem.
type SelfRow struct {
	Problem   string   `json:"problem"`
	Runs      int      `json:"runs"`
	Seconds   float64  `json:"seconds"`    // median
	PeakBytes int64    `json:"peak_bytes"` // of the run that needed most
	Gap       *float64 `json:"gap,omitempty"`
	Excess    *float64 `json:"excess_bound,omitempty"`
	LossError *float64 `json:"loss_error,omitempty"`
}

// Note takes what a run says of itself. It is an error if the run is silent about the Gram matrix.
func (r *SelfRow) Note(m *export.Manifest) error {
	r.PeakBytes = max(r.PeakBytes, m.PeakBytes)
	if m.LowerBound > 0 {
		r.Gap = &m.Gap
	}
	if m.Gram == nil {
		return errors.New("no word of the Gram matrix")
	}
	r.Excess, r.LossError = m.Gram.ExcessBound, m.Gram.LossError
	return nil
}

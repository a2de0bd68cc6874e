package main

import (
	"fmt"

	"mafalda/internal/cli"
)

// sampling says how nodes draw their batches.
func (r *report) sampling() {
	s := r.manifest.Sampling
	from, every := fmt.Sprintf("group t mod %d", s.Groups), "of it"
	if s.Groups == 1 {
		from, every = "all records", "of them"
	} else {
		defer r.line("               a node once puts every record into one of %d groups, independently of all others",
			s.Groups)
	}
	r.line("sampling       %s, in secret: step t draws from %s, every record %s with probability %.6g;", s.Scheme,
		from, every, s.Probability)
	r.line("               batches count with their expected size, not with the real one")
}

// bands compares the numbers of bands that were searched, and the optimum for batches in turn.
func (r *report) bands() error {
	m := r.manifest
	header := []string{"bands", "probability", "rounds", "noise multiplier", "squared error", "error at privacy",
		"of cyclic", "rows kept"}
	var rows [][]string
	for _, c := range r.solution.Candidates {
		name := fmt.Sprint(c.Bandwidth)
		if c.Bandwidth == m.Sampling.Groups {
			name += " (best)"
		}
		rows = append(rows, []string{name, fmt.Sprintf("%.6g", c.Probability), fmt.Sprint(c.Rounds),
			cli.NumberUp(c.NoiseMultiplier), cli.NumberUp(c.SquaredError), cli.NumberUp(c.ErrorAtPrivacy),
			fmt.Sprintf("%.4f", c.ErrorAtPrivacy/m.CyclicErrorAtPrivacy), fmt.Sprint(c.Bandwidth - 1)})
	}
	rows = append(rows, []string{"dense, in turn", "", "", "", cli.NumberUp(r.solution.Cyclic.SquaredError),
		cli.NumberUp(m.CyclicErrorAtPrivacy), "1.0000", fmt.Sprint(m.Steps)})
	return cli.Table(r, header, rows)
}

// excluded says what the best number of bands is better than.
func (r *report) excluded() {
	b := r.solution.Problem.Schema.Separation()
	switch n := r.solution.Excluded; n {
	case 0:
	case 1:
		r.line("bands          the other one, up to b = %d, is proven to have no smaller error", b)
	default:
		r.line("bands          the other %d numbers of bands, up to b = %d, are proven to have no smaller error", n, b)
	}
}

// inTurn says where batches in secret cost more than ones that attackers may know: at a large ε.
func (r *report) inTurn() {
	m := r.manifest
	if ratio := m.CyclicErrorAtPrivacy / m.ErrorAtPrivacy; m.Sampled() && ratio > 0 && ratio < 0.995 {
		r.line("in turn        the dense optimum without --sampling has %s of this error, and needs no secret",
			cli.DecimalUp(ratio, 2))
	}
}

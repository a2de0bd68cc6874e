package ppac

import (
	"context"
	"fmt"
	"math/rand/v2"

	"mafalda/protocols/averaging"
)

// Run is a run of the protocol: v(0) are the sums of fragments.
type Run struct {
	averaging.Trace
	Fragments [][]float64 // Fragments[i][at] is Γ_ij for j the at-th neighbour of i, ascending; nil: not known
}

// Prepare runs the preparation phase: it draws noise from r and returns Γ and v(0). u has n values (else
// ErrNetwork).
func (p *Protocol) Prepare(u []float64, d Deviations, r *rand.Rand) (*Run, error) {
	if len(u) != p.Nodes() {
		return nil, fmt.Errorf("%w: %d values for %d nodes", ErrNetwork, len(u), p.Nodes())
	}
	if err := d.check(p); err != nil {
		return nil, err
	}
	run := &Run{averaging.NewTrace(u, make([]float64, p.Nodes())), make([][]float64, p.Nodes())}
	for i, around := range p.neighbours {
		row := make([]float64, len(around))
		rest, last := u[i], 0
		for at, j := range around {
			if j == p.chosen[i] {
				last = at
				continue
			}
			row[at] = d.Noise * r.NormFloat64()
			rest -= row[at]
		}
		row[last] = rest
		for at, j := range around {
			run.Values[0][j] += row[at]
		}
		run.Fragments[i] = row
	}
	return run, nil
}

// Average runs the consensus phase from v(0): until all nodes are within tolerance of the mean of v(0), in the norm
// ‖v(t) - m·1‖₂, or for the given number of rounds (a tolerance of 0 runs them all). The only error is the context's.
func (p *Protocol) Average(ctx context.Context, run *Run, rounds int, tolerance float64) error {
	return run.Trace.Average(ctx, p.weights.Matrix, rounds, tolerance)
}

package averaging

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/protocols/internal/consensus"
)

// Trace is what nodes hold in the rounds of consensus.
type Trace struct {
	Mean   float64     // mean of the private values, without noise
	Values [][]float64 // v(0), v(1), …
}

// NewTrace begins a trace for private values u from v(0), which it keeps.
func NewTrace(u, start []float64) Trace { return Trace{consensus.Mean(u), [][]float64{start}} }

// Noisy returns the mean of v(0), which the nodes agree on.
func (r *Trace) Noisy() float64 { return consensus.Mean(r.Values[0]) }

// Error returns ‖v(t) - Mean·1‖₂.
func (r *Trace) Error(t int) float64 { return consensus.Distance(r.Values[t], r.Mean) }

// Errors returns the errors of all rounds.
func (r *Trace) Errors() []float64 { return lists.Make(len(r.Values), r.Error) }

// Average appends W·v to v(0) until all nodes are within tolerance of their mean, or as near as numbers of this size
// come; or for the given number of rounds. With a tolerance of 0 it runs them all.
// The only error is the context's.
func (r *Trace) Average(ctx context.Context, w *graph.CSR, rounds int, tolerance float64) error {
	r.Values = r.Values[:1:1]
	mean := r.Noisy()
	const unit = 0x1p-53
	near := math.Max(tolerance, 8*unit*math.Sqrt(float64(len(r.Values[0])))*floats.Norm(r.Values[0], math.Inf(1)))
	for t := 0; t < rounds && !(tolerance > 0 && consensus.Distance(r.Values[t], mean) <= near); t++ {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		next := make([]float64, len(r.Values[t]))
		w.MulVecTo(next, false, r.Values[t])
		r.Values = append(r.Values, next)
	}
	return nil
}

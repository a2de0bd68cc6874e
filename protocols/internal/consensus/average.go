package consensus

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"mafalda/graph"
	"mafalda/internal/lists"
)

// Mean returns Σu/n.
func Mean(u []float64) float64 {
	var sum float64
	for _, x := range u {
		sum += x
	}
	return sum / float64(len(u))
}

// Distance returns ‖v - m·1‖₂.
func Distance(v []float64, m float64) float64 {
	var norm float64
	for _, x := range v {
		norm = math.Hypot(norm, x-m)
	}
	return norm
}

// Average appends W·v to v(0) until all nodes are within tolerance of their mean, or as near as numbers of this size
// come; or for the given number of rounds. With a tolerance of 0 it runs them all.
// The only error is the context's.
func Average(ctx context.Context, w *graph.CSR, values [][]float64, rounds int, tolerance float64) ([][]float64,
	error) {
	mean := Mean(values[0])
	const unit = 0x1p-53
	near := math.Max(tolerance, 8*unit*math.Sqrt(float64(len(values[0])))*floats.Norm(values[0], math.Inf(1)))
	for t := 0; t < rounds && !(tolerance > 0 && Distance(values[t], mean) <= near); t++ {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		next := make([]float64, len(values[t]))
		w.MulVecTo(next, false, values[t])
		values = append(values, next)
	}
	return values, nil
}

// Errors returns the distance from m·1 of what nodes held in every round.
func Errors(values [][]float64, m float64) []float64 {
	return lists.Map(values, func(v []float64) float64 { return Distance(v, m) })
}

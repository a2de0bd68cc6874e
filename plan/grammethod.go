package plan

import (
	"math"

	"mafalda/graph"
	"mafalda/workload"
)

// ExactCost is about how many operations the exact way takes.
func ExactCost(w *graph.Gossip, steps int) float64 {
	n, _ := w.Matrix().Dims()
	if n <= 2048 && w.Symmetric() {
		return math.Pow(float64(n), 3)
	}
	return float64(n) * float64(steps) * (float64(w.Matrix().NNZ()) + float64(n)*float64(steps)/16)
}

// ExactResponseCost is about how many operations the exact way takes for many steps: eigenvalues once, and a few
// errors.
func ExactResponseCost(w *graph.Gossip, steps int) float64 {
	n, _ := w.Matrix().Dims()
	pi, _ := w.Stationary()
	switch size := float64(n); {
	case !workload.HasExactResponse(w.Matrix(), pi):
		return math.Inf(1)
	case w.Matrix().Symmetric(0):
		return size * size * size
	default:
		return 10*size*size*size + 6*size*size*float64(steps)
	}
}

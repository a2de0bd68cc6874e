package spacetime

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// bound returns what the working constraints, as a dual point, prove of a design's costs, rounded down.
//
// A dual point is weights y_k ≥ 0 and vectors z_k, zero on the attacker A and one at the victim v. For every M_A with
// [M_A⁻¹]_vv ≤ 1 the Cauchy-Schwarz inequality says z_kᵀM_Az_k ≥ 1, and z_kᵀM_Az_k is rowTo's row a_k times x. So for
// every x that is allowed, 0 ≤ x ≤ limit, and every scale ρ ≥ 0 of the weights,
//
//	costᵀx ≥ Σ_k ρy_k a_kᵀx - Σ_i x_i max(0, Σ_k ρy_k a_ki - cost_i)
//	       ≥ ρ Σ_k y_k - Σ_i limit_i·max(0, ρ Σ_k y_k a_ki - cost_i),
//
// which is concave in ρ with corners where a term of the last sum begins.
func (w *working) bound(d *design) float64 {
	bound, _ := w.appraise(d)
	return bound
}

// appraise returns the bound, and what the working constraints pull at every variable.
func (w *working) appraise(d *design) (bound float64, pulled []float64) {
	pull := make([]float64, d.size())
	w.pullTo(d, pull, w.weight)
	pulled = slices.Clone(pull)
	// Sums of so many products of nonnegative numbers; the entries of z are what they are.
	slack := 2 * float64(len(w.weight)+d.size()+64) * 0x1p-53
	cost := make([]float64, d.size())
	corners := make([]int, 0, d.size())
	for i, p := range pull {
		pull[i] = p * (1 + slack)
		cost[i] = d.cost[i] * (1 - slack)
		if i >= d.nodes { // a difference of entries of K
			pair := d.pairs[i-d.nodes]
			cost[i] = math.Max(0, cost[i]-8*0x1p-53*(d.cost[pair.U]+d.cost[pair.V]))
		}
		if p > 0 {
			corners = append(corners, i)
		}
	}
	slices.SortFunc(corners, func(i, j int) int {
		if cost[i]*pull[j] < cost[j]*pull[i] {
			return -1
		}
		return 1
	})
	total := floats.Sum(w.weight) * (1 - slack)
	slope, fixed := total, 0.0 // the bound is slope·ρ + fixed up to the next corner
	for _, i := range corners {
		if next := slope - d.limit[i]*pull[i]; next <= 0 {
			scale := cost[i] / pull[i]
			return math.Max(0, (slope*scale+fixed-4*slack*scale*total)*d.unit), pulled
		}
		slope -= d.limit[i] * pull[i]
		fixed += d.limit[i] * cost[i]
	}
	return 0, pulled
}

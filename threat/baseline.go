package threat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mafalda/graph"
)

// CyffersSquared returns, for every node, the squared sensitivity that the accounting of Cyffers et al. (2022, Theorem
// 1 for Muffliato, one gossip round a step) gives for DP-D-SGD under PNDP, when a record takes part in all T steps:
//
//	Σ_{s<T} (T-s) Σ_{w seen} (W^s)[u,w] / ‖(W^s)[:,w]‖²,
//
// and T, local DP, where that is less. It is what Bellet et al. compare with in Figure 2. Their analysis is for
// undirected graphs; on directed ones, where messages do not flow both ways, this is no bound. Entries are not squared:
// with squares it is no bound if W is not symmetric; in this form no violation is known, which is no proof. Attackers
// have T.
func CyffersSquared(w *graph.CSR, attackers []int, steps int) []float64 {
	n, _ := w.Dims()
	seen := slices.Clone(attackers)
	for _, a := range attackers {
		w.DoRowNonZero(a, func(_, v int, x float64) {
			if x != 0 && !slices.Contains(seen, v) {
				seen = append(seen, v)
			}
		})
	}
	total := make([]float64, n)
	next := make([]float64, n)
	for _, v := range seen {
		column := make([]float64, n) // W^s e_v
		column[v] = 1
		for s := range steps {
			if norm := floats.Dot(column, column); norm > 0 {
				floats.AddScaled(total, float64(steps-s)/norm, column)
			}
			w.MulVecTo(next, false, column)
			column, next = next, column
		}
	}
	for u := range total {
		total[u] = math.Min(total[u], float64(steps))
	}
	for _, a := range attackers {
		total[a] = float64(steps)
	}
	return total
}

// AsymptoteSquared returns the squared sensitivity that m observers of n nodes approach as T grows, under secure
// summation with a symmetric, doubly stochastic and primitive W and a record in all T steps (Koskela & Kulkarni,
// Theorems 13 and 15): mT/n, or mT/(n-m) if the observers' own noise does not count (Theorem 16). For m = 1 it is the
// limit for equal gradients in all steps, for m > 1 an upper bound of that limit. Gradients of changing signs can lose
// more for ever: on path:6 with Metropolis weights, attacker 1 and its own noise forgotten, 0.257 T where this is 0.167 T.
// So it is a comparison, and no guarantee.
func AsymptoteSquared(observers, nodes, steps int, ownNoiseCounts bool) float64 {
	if ownNoiseCounts {
		return float64(observers) * float64(steps) / float64(nodes)
	}
	return float64(observers) * float64(steps) / float64(nodes-observers)
}

package spacetime

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// bound returns what the working constraints, as a dual point, prove of a design's costs, rounded down.
//
// A dual point is weights y_k ≥ 0 and vectors z_k, zero on the attacker A and 1/√ω_v at the victim v. For every M_A with
// ω_v [M_A⁻¹]_vv ≤ 1 the Cauchy-Schwarz inequality says z_kᵀM_Az_k ≥ 1, and z_kᵀM_Az_k is rowTo's row a_k times x. So for
// every x that is allowed, 0 ≤ x ≤ limit, and every scale ρ ≥ 0 of the weights,
//
//	costᵀx ≥ Σ_k ρy_k a_kᵀx - Σ_i x_i max(0, Σ_k ρy_k a_ki - cost_i)
//	       ≥ ρ Σ_k y_k - Σ_i limit_i·max(0, ρ Σ_k y_k a_ki - cost_i),
//
// which is concave in ρ with corners where a term of the last sum begins.
func (w *working) bound(d *design) float64 {
	pull, margin := w.pulls(d)
	return w.boundOf(d, pull, margin)
}

// boundOf returns the bound of pulls that are right up to a margin relative to what is pulled at nodes, and that
// of rounding.
func (w *working) boundOf(d *design, pulled []float64, margin float64) float64 {
	// The relative rounding of sums of products of nonnegative numbers; the entries of z count as exact.
	slack := 2 * float64(len(w.weight)+d.size()+64) * 0x1p-53
	cost, pull := make([]float64, d.size()), make([]float64, d.size())
	corners := make([]int, 0, d.size())
	for i, p := range pulled {
		cost[i] = d.cost[i] * (1 - slack)
		if i >= d.nodes {
			pair := d.pairs[i-d.nodes]
			cost[i] = math.Max(0, cost[i]-8*0x1p-53*(d.cost[pair.U]+d.cost[pair.V])) // a difference of entries of K
			p = math.Max(0, p) + margin*(pulled[pair.U]+pulled[pair.V])
		}
		pull[i] = p * (1 + slack)
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
			return math.Max(0, (slope*scale+fixed-4*slack*scale*total)*d.unit)
		}
		slope -= d.limit[i] * pull[i]
		fixed += d.limit[i] * cost[i]
	}
	return 0
}

// pulls returns how much the constraints pull at every variable of a design: Σ_k y_k a_ki. A pair's pull is right up to
// rounding of a margin times the pulls at its two nodes.
//
// Where pairs are many it is the sum of squares over all attackers, from Σ_k y_k z_k z_kᵀ, less the sum over the
// attackers who know the pair.
func (w *working) pulls(d *design) (pull []float64, margin float64) {
	pull = make([]float64, d.size())
	n := d.nodes
	if 8*len(d.pairs) < n*n {
		w.pullTo(d, pull, w.weight)
		return pull, 0
	}
	sum := w.squares(w.weight)
	for u := range n {
		pull[u] = sum.Data[u*n+u]
	}
	for i, p := range d.pairs {
		pull[n+i] = pull[p.U] + pull[p.V] - 2*sum.Data[p.U*n+p.V]
	}
	for k, y := range w.weight {
		z := w.row(k)
		for _, i := range d.touched[w.threat[k]] {
			p := d.pairs[i-n]
			v := z[p.U] - z[p.V] // one of them is zero
			pull[i] -= y * v * v
		}
	}
	return pull, 8 * float64(len(w.weight)+64) * 0x1p-53
}

// repair returns the best of a few dual points near this one, with its bound and pulls: where a variable is pulled at
// by more than it costs, the weights of the victims at its ends are less.
func (w *working) repair(d *design) (best *working, bound float64, pull []float64) {
	const passes = 6
	pull, margin := w.pulls(d)
	best, bound = w, w.boundOf(d, pull, margin)
	at, pulled := *w, pull
	for range passes {
		share := d.shares(pulled)
		at.weight = slices.Clone(at.weight)
		for k, victim := range w.victim {
			at.weight[k] *= share[victim]
		}
		pulled, margin = at.pulls(d)
		next := at.boundOf(d, pulled, margin)
		if !(next > bound) {
			break
		}
		other := at
		best, bound = &other, next
	}
	return best, bound, pull
}

// shares returns, for every victim, the share of its weights at which no variable of it is pulled at by more than it costs
// if no other victim pulls.
func (d *design) shares(pulled []float64) []float64 {
	all := slices.Repeat([]float64{1}, d.nodes)
	for i, v := range pulled {
		if cost := d.cost[i]; v > cost {
			u, w := i, i
			if i >= d.nodes {
				u, w = d.pairs[i-d.nodes].U, d.pairs[i-d.nodes].V
			}
			all[u], all[w] = math.Min(all[u], cost/v), math.Min(all[w], cost/v)
		}
	}
	return all
}

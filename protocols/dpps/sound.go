package dpps

import (
	"context"
	"math"
	"sync"

	"mafalda/internal/parallel"
)

// What is sound. Let x_j(k) be what node j adds in round k: its perturbation and its noise, and in round 0 its value.
// Before mixing in round t, messages are
//
//	s_i = Σ_k Σ_j Φ_ij(k) x_j(k),     Φ(k) = W(t-1) W(t-2) ⋯ W(k),   Φ(t) = I,
//
// so that two messages differ by at most Σ_j Σ_k |Φ_aj(k) - Φ_bj(k)| ‖x_j(k)‖₁. The recursion gives S_j = 2C′ Σ_k
// λ^(t-k) ‖x_j(k)‖₁. It follows that max S_j is enough, whatever the x, if for all a, b, t
//
//	½ Σ_j max_k |Φ_aj(k) - Φ_bj(k)| λ^-(t-k) ≤ C′;                                              (*)
//
// for then Σ_j Σ_k |Φ_aj - Φ_bj| ‖x_j(k)‖ ≤ Σ_j max_k{|Φ_aj - Φ_bj| λ^-(t-k)} · S_j/(2C′) ≤ max_j S_j;
// and only if: otherwise let every node spend S_j = 1 in the round k where the maximum is, with the sign of Φ_aj -
// Φ_bj. In particular C′ ≥ 1 (k = t: the identity). Let τ_s be the largest ergodicity coefficient of s rounds. The
// rows of a product that starts with B rounds differ by τ_B times a difference of two averages of rows of the rest,
// so that lags of B and more contribute no more than τ_B λ^-B times what smaller ones do to the column's range: a
// finite computation.

// constant evaluates the condition (*) for a λ: the least C′ as far as the lags go that have been looked at, and one for all
// lags; +Inf if none is known.
func (p *products) constant(ctx context.Context, lambda float64, progress func(fraction float64)) (necessary, enough float64,
	err error) {
	n, _ := p.lags[0][0].Dims()
	scale := func(lag int) float64 { return math.Pow(lambda, -float64(lag)) }
	tail := 0.0 // τ_B λ^-B, if there are longer lags
	if !p.limited {
		tail = p.ergodic[len(p.ergodic)-1] * scale(len(p.lags))
	}
	ranges := make([]float64, n) // of every column, the most over lags and phases, times λ^-s
	if tail > 0 {
		parallel.For(n, func(j int) {
			for lag, phases := range p.lags {
				for _, phi := range phases {
					low, high := math.Inf(1), 0.0
					for a := 0; a < n && ctx.Err() == nil; a++ {
						low, high = math.Min(low, phi.At(a, j)), math.Max(high, phi.At(a, j))
					}
					ranges[j] = math.Max(ranges[j], scale(lag)*(high-low))
				}
			}
		})
	}
	var mu sync.Mutex
	pairs := 0
	parallel.For(n, func(a int) {
		most, needs, suffices := make([]float64, n), 0.0, 0.0
		for phase := range p.lags[0] {
			for b := 0; b < a && ctx.Err() == nil; b++ {
				clear(most)
				for lag, phases := range p.lags {
					left, right, scale := phases[phase].RawRowView(a), phases[phase].RawRowView(b), scale(lag)
					for j, x := range left {
						most[j] = math.Max(most[j], scale*math.Abs(x-right[j]))
					}
				}
				sum, bounded := 0.0, 0.0
				for j, x := range most {
					sum += x
					bounded += math.Max(x, tail*ranges[j])
				}
				needs, suffices = math.Max(needs, sum/2), math.Max(suffices, bounded/2)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		necessary, enough = math.Max(necessary, needs), math.Max(enough, suffices)
		if pairs += a; progress != nil {
			progress(productsShare + (1-productsShare)*float64(pairs)/float64(n*(n-1)/2))
		}
	})
	switch {
	case ctx.Err() != nil:
		return 0, 0, context.Cause(ctx)
	case tail >= 1:
		return necessary, math.Inf(1), nil
	}
	return necessary, enough * upward, nil
}

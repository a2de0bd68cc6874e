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

// soundness is the condition (*) for a λ.
type soundness struct {
	*products
	scales []float64 // λ^-s of every lag s
	tail   float64   // τ_B λ^-B; 0 if there are no longer lags
	ranges []float64 // range of every column, the most over lags and phases, times λ^-s: longer lags add up to tail times that
}

// constant evaluates the condition (*).
func (p *products) constant(ctx context.Context, lambda float64, progress func(fraction float64)) (necessary,
	enough float64, err error) {
	c := &soundness{products: p, scales: make([]float64, len(p.lags))}
	for lag := range c.scales {
		c.scales[lag] = math.Pow(lambda, -float64(lag))
	}
	if !p.limited {
		c.tail = p.ergodic[len(p.ergodic)-1] * math.Pow(lambda, -float64(len(p.lags)))
	}
	if err := c.findRanges(ctx); err != nil {
		return 0, 0, err
	}
	needs, suffices := c.rows(ctx, progress)
	if ctx.Err() != nil {
		return 0, 0, context.Cause(ctx)
	}
	for a := range needs {
		necessary, enough = math.Max(necessary, needs[a]), math.Max(enough, suffices[a])
	}
	if c.tail >= 1 {
		return necessary, math.Inf(1), nil
	}
	return necessary, enough * upward, nil
}

// nodes returns the number of nodes, n.
func (c *soundness) nodes() int {
	n, _ := c.lags[0][0].Dims()
	return n
}

// findRanges fills in the columns' ranges, where longer lags matter. The only error is the context's.
func (c *soundness) findRanges(ctx context.Context) error {
	n := c.nodes()
	c.ranges = make([]float64, n)
	if !(c.tail > 0) {
		return nil
	}
	for lag, phases := range c.lags {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, phi := range phases {
			for j := range n {
				low, high := math.Inf(1), 0.0
				for a := range n {
					low, high = math.Min(low, phi.At(a, j)), math.Max(high, phi.At(a, j))
				}
				c.ranges[j] = math.Max(c.ranges[j], c.scales[lag]*(high-low))
			}
		}
	}
	return nil
}

// rows returns, for every node a, the largest left side of (*) over b < a and phases: of the lags that have been
// looked at, and a bound for all lags. It is something else if the context is done.
func (c *soundness) rows(ctx context.Context, progress func(fraction float64)) (needs, suffices []float64) {
	n := c.nodes()
	needs, suffices = make([]float64, n), make([]float64, n)
	var mu sync.Mutex
	pairs := 0
	parallel.For(n, func(a int) {
		most := make([]float64, n)
		for e := range c.lags[0] {
			for b := range a {
				if ctx.Err() != nil {
					return
				}
				sum, bounded := c.pair(a, b, e, most)
				needs[a], suffices[a] = math.Max(needs[a], sum/2), math.Max(suffices[a], bounded/2)
			}
		}
		if progress != nil {
			mu.Lock()
			defer mu.Unlock()
			pairs += a
			progress(productsShare + (1-productsShare)*float64(pairs)/float64(n*(n-1)/2))
		}
	})
	return needs, suffices
}

// pair returns both for two nodes and a phase, twice; most is scratch of n numbers.
func (c *soundness) pair(a, b, phase int, most []float64) (sum, bounded float64) {
	clear(most)
	for lag, phases := range c.lags {
		left, right, scale := phases[phase].RawRowView(a), phases[phase].RawRowView(b), c.scales[lag]
		for j, x := range left {
			most[j] = math.Max(most[j], scale*math.Abs(x-right[j]))
		}
	}
	for j, x := range most {
		sum += x
		bounded += math.Max(x, c.tail*c.ranges[j])
	}
	return sum, bounded
}

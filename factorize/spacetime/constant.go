package spacetime

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/optim"
	"mafalda/strategy"
)

// Constant returns the best noise for a strategy, which is to have sens ≤ 1, with one variance for all nodes and one
// for all pairs, and max [M_A⁻¹]_vv ≤ 1: DECOR (Allouah et al., 2024) for C = I/√k, and DECOR over the network with
// noise that is correlated over time for any other C. It has no bound. It fails as Space does.
//
// Of the ratio of the two variances the loss is quasiconvex: among noise that is good enough, which is a convex set,
// the loss is linear. It is found by golden sections.
func (p Problem) Constant(ctx context.Context, c strategy.Strategy) (*SpaceResult, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	k, err := p.spaceGram(ctx, c)
	if err != nil {
		return nil, err
	}
	if trace := mat.Trace(k); !(trace > 0) || math.IsInf(trace, 0) {
		return nil, fmt.Errorf("%w: the trace of K is %v", ErrSpace, trace)
	}
	d := newDesign(k, p.Setting)
	search := &spaceSearch{setting: p.Setting, all: d, loss: math.Inf(1)}
	try := func(ratio float64) float64 {
		if ctx.Err() != nil {
			return 0
		}
		search.iterations++
		return search.constant(ratio)
	}
	try(0)
	if len(d.pairs) > 0 {
		most := math.Log(p.largestPair() * float64(d.nodes))
		golden(math.Log(1e-4), most, func(l float64) float64 { return try(math.Exp(l)) })
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	search.at, search.status = Point{Own: search.best[:d.nodes:d.nodes], Pairs: search.best[d.nodes:]}, optim.Converged
	return search.result(ctx, k)
}

// constant returns the loss for pairs whose variance is ratio times that of nodes, and keeps the best.
func (s *spaceSearch) constant(ratio float64) float64 {
	d := s.all
	x := slices.Concat(slices.Repeat([]float64{1}, d.nodes), slices.Repeat([]float64{ratio}, len(d.pairs)))
	least := d.leastOfAll(ratio)
	if !d.complete() {
		p := newPosition(d, x)
		if p == nil {
			return math.Inf(1)
		}
		least = p.least()
	}
	loss := dot(d.cost, x) / least * d.unit
	if over := ratio / least / s.setting.largestPair(); over > 1 {
		return loss * over * over // larger than allowed, the more so the worse
	}
	if loss < s.loss {
		s.loss, s.best = loss, x
	}
	return loss
}

// complete reports whether all nodes share secrets with all.
func (d *design) complete() bool { return 2*len(d.pairs) == d.nodes*(d.nodes-1) }

// leastOfAll returns the smallest reach where all pairs have the same variance e, and nodes 1. For an attacker of n - r
// nodes M_A is (1 + re)I less e everywhere: its inverse has (1 + e)/(1 + re) on the diagonal.
func (d *design) leastOfAll(e float64) float64 {
	least := math.Inf(1)
	for _, t := range d.threats {
		rest := float64(d.nodes - len(t.Attacker))
		for _, v := range t.Victims {
			least = math.Min(least, (1+rest*e)/(1+e)/d.weight[v])
		}
	}
	return least
}

// golden narrows down where f, which is quasiconvex, is least between from and to, to one part in ten thousand.
func golden(from, to float64, f func(float64) float64) {
	const section = 0.6180339887498949
	left, right := to-section*(to-from), from+section*(to-from)
	atLeft, atRight := f(left), f(right)
	for width := to - from; to-from > 1e-4*width; {
		if atLeft < atRight {
			to, right, atRight = right, left, atLeft
			left = to - section*(to-from)
			atLeft = f(left)
		} else {
			from, left, atLeft = left, right, atRight
			right = from + section*(to-from)
			atRight = f(right)
		}
	}
}

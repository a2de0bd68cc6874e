package canaries

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"mafalda/internal/lists"
)

// A family is of trade-offs, by a level: trade returns the least probability under one coin of what has probability x under
// the other.
type family func(level float64) (trade func(x float64) float64)

// gaussian is the family of μ-GDP.
func gaussian(mu float64) func(float64) float64 {
	normal := distuv.UnitNormal
	return func(x float64) float64 {
		switch {
		case x <= 0:
			return 0
		case x >= 1:
			return 1
		}
		return normal.CDF(normal.Quantile(x) - mu)
	}
}

// approximate returns the family of (ε, δ)-DP by ε, which every mechanism is of.
func approximate(delta float64) family {
	return func(epsilon float64) func(float64) float64 {
		return func(x float64) float64 {
			return max(0, math.Exp(-epsilon)*(x-delta), 1-delta-math.Exp(epsilon)*(1-x))
		}
	}
}

// lower returns the largest level such that no mechanism of the family guesses the coins as well as the scores do, but with
// the probability alpha; 0 if it may be any. It guesses "in" for the highest scores and "out" for the lowest, for several
// numbers of guesses, which share alpha. Source: Mahloujifar, Melis & Chaudhuri 2024, "Auditing f-differential
// privacy in one run", Theorem 9 and Algorithm 3: the scores may depend on each other, as they do in one run.
func (f family) lower(scores []float64, in []bool, alpha float64) float64 {
	m := len(scores)
	order := lists.UpTo(m)
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(scores[a], scores[b]), a-b) })
	shares := [...]int{1, 2, 4, 8, 16} // the m/share surest guesses
	best := 0.0
	for _, share := range shares {
		each := m / share / 2
		if each == 0 {
			continue
		}
		right := 0
		for i := range each {
			if !in[order[i]] {
				right++
			}
			if in[order[m-1-i]] {
				right++
			}
		}
		best = max(best, f.rejected(m, 2*each, right, alpha/float64(len(shares))))
	}
	return best
}

// rejected returns a level below which every mechanism of the family is rejected: of m coins, guesses were made and right were
// right.
func (f family) rejected(m, guesses, right int, alpha float64) float64 {
	return largest(func(level float64) bool { return rejected(m, guesses, right, f(level), alpha) })
}

// alone returns the like of lower for canaries of which each has mechanisms of its own: a guess from what one released is right
// with at most the p for which trade(p) = 1 - p, whatever the others released, so that the number of right ones of m is at most
// binomial, and the least p is that of Clopper and Pearson.
func (f family) alone(m, right int, alpha float64) float64 {
	if right == 0 {
		return 0
	}
	p := distuv.Beta{Alpha: float64(right), Beta: float64(m - right + 1)}.Quantile(alpha)
	return largest(func(level float64) bool { return f(level)(p) > 1-p })
}

// largest returns about the largest level that is rejected, not above it; 0 if none is. Lower ones are, too.
func largest(isRejected func(level float64) bool) float64 {
	if !isRejected(0) {
		return 0
	}
	low, high := 0.0, 1.0
	for isRejected(high) {
		if low, high = high, 2*high; high > 64 {
			return low
		}
	}
	for range 40 {
		if middle := (low + high) / 2; isRejected(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// rejected reports whether a mechanism of this trade-off lets right of the guesses be right with a probability of at most
// alpha.
//
// If it let them with alpha, then h_i, the least probability (over m) of a wrong guess among those events where at
// least i are right, and r_i of a right one, obey h_(i-1) ≥ trade(r_i), and the sums over all i would be more than the
// number of guesses.
func rejected(m, guesses, right int, trade func(float64) float64, alpha float64) bool {
	n := float64(m)
	r, h := alpha*float64(right)/n, alpha*float64(guesses-right)/n
	for i := right - 1; i >= 0; i-- {
		next := math.Max(h, trade(r))
		if next == h {
			break
		}
		r = math.Min(1, r+float64(i)/float64(guesses-i)*(next-h))
		h = next
	}
	return r+h > float64(guesses)/n
}

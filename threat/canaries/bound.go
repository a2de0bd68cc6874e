package canaries

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"mafalda/internal/lists"
)

// lowerMu returns the largest μ such that no μ-GDP mechanism guesses the coins as well as the scores do, but with the
// probability alpha; 0 if there is none. It guesses "in" for the highest scores and "out" for the lowest, for several
// numbers of guesses, which share alpha. Source: Mahloujifar, Melis & Chaudhuri 2024, "Auditing f-differential
// privacy in one run", Theorem 9 and Algorithm 3: the scores may depend on each other, as they do in one run.
func lowerMu(scores []float64, in []bool, alpha float64) float64 {
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
		best = max(best, muRejected(m, 2*each, right, alpha/float64(len(shares))))
	}
	return best
}

// muRejected returns a μ below which every μ-GDP mechanism is rejected: of m coins, guesses were made and right were
// right.
func muRejected(m, guesses, right int, alpha float64) float64 {
	if !rejected(m, guesses, right, 0, alpha) {
		return 0
	}
	low, high := 0.0, 1.0
	for rejected(m, guesses, right, high, alpha) {
		if low, high = high, 2*high; high > 64 {
			return low
		}
	}
	for range 40 {
		if middle := (low + high) / 2; rejected(m, guesses, right, middle, alpha) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// rejected reports whether a μ-GDP mechanism lets right of so many guesses be right with a probability of at most
// alpha.
//
// If it let them with alpha, then h_i, the least probability (over m) of a wrong guess among those events where at
// least i are right, and r_i of a right one, obey h_(i-1) ≥ f̄(r_i), and the sums over all i would be more than the
// guesses that there are.
func rejected(m, guesses, right int, mu, alpha float64) bool {
	normal := distuv.UnitNormal
	inverse := func(x float64) float64 { // of the blow-up: what is x under one coin is at least this under the other
		switch {
		case x <= 0:
			return 0
		case x >= 1:
			return 1
		}
		return normal.CDF(normal.Quantile(x) - mu)
	}
	n := float64(m)
	r, h := alpha*float64(right)/n, alpha*float64(guesses-right)/n
	for i := right - 1; i >= 0; i-- {
		next := math.Max(h, inverse(r))
		if next == h {
			break
		}
		r = math.Min(1, r+float64(i)/float64(guesses-i)*(next-h))
		h = next
	}
	return r+h > float64(guesses)/n
}

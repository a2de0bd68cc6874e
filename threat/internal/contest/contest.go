// Package contest judges a statistic that is to tell two distributions apart, from runs of both: it chooses a
// threshold and returns confidence limits of how often the statistic is above it. It does not know what is attacked.
package contest

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// Contest has a statistic that is to be large under P and small under Q.
type Contest struct{ P, Q []float64 }

// Halves returns a contest of the first half of each sample, sorted, to choose a threshold with, and one of the rest, to
// judge it.
func Halves(p, q []float64) (first, rest Contest) {
	half := len(p) / 2
	first = Contest{slices.Sorted(slices.Values(p[:half])), slices.Sorted(slices.Values(q[:half]))}
	return first, Contest{p[half:], q[half:]}
}

// Threshold returns the one whose event {statistic at least threshold} is likely to have the best of the limits by a
// measure, of a sorted contest: it estimates them by normal intervals (Wilson's), which only have to be about right.
func (c Contest) Threshold(share float64, measure func(pLow, qHigh float64) float64) float64 {
	z := distuv.UnitNormal.Quantile(1 - share)
	best, most := math.Inf(1), math.Inf(-1)
	j := 0 // of q are below p[i]
	for i, x := range c.P {
		for j < len(c.Q) && c.Q[j] < x {
			j++
		}
		if i > 0 && x == c.P[i-1] {
			continue
		}
		pLow, _ := wilson(len(c.P)-i, len(c.P), z)
		_, qHigh := wilson(len(c.Q)-j, len(c.Q), z)
		if value := measure(pLow, qHigh); value > most {
			best, most = x, value
		}
	}
	return best
}

// Limits returns a lower limit of the event's probability under P and an upper one under Q, each of which fails with
// probability share.
func (c Contest) Limits(threshold, share float64) (pLow, qHigh float64) {
	p, q := c.counts(threshold)
	return binomialLow(p, len(c.P), share), binomialHigh(q, len(c.Q), share)
}

// counts returns how often the statistic is at least the threshold.
func (c Contest) counts(threshold float64) (p, q int) {
	count := func(all []float64) (n int) {
		for _, x := range all {
			if x >= threshold {
				n++
			}
		}
		return n
	}
	return count(c.P), count(c.Q)
}

// wilson returns the limits of a binomial probability by the normal approximation that holds at both ends, too.
func wilson(k, n int, z float64) (low, high float64) {
	N := float64(n)
	p := float64(k) / N
	middle := p + z*z/(2*N)
	margin := z * math.Sqrt(p*(1-p)/N+z*z/(4*N*N))
	return max(0, (middle-margin)/(1+z*z/N)), min(1, (middle+margin)/(1+z*z/N)) // but for rounding
}

// binomialLow returns the lower limit of Clopper and Pearson for the probability of what happened k times of n: it is
// above the true one with at most probability share.
func binomialLow(k, n int, share float64) float64 {
	if k == 0 {
		return 0
	}
	low, high := 0.0, 1.0
	for range 60 {
		if p := low + (high-low)/2; mathext.RegIncBeta(float64(k), float64(n-k+1), p) <= share {
			low = p
		} else {
			high = p
		}
	}
	return low
}

// binomialHigh returns the upper limit, likewise.
func binomialHigh(k, n int, share float64) float64 { return 1 - binomialLow(n-k, n, share) }

// Shares returns how often the statistic is at least the threshold, never quite 0 or 1.
func (c Contest) Shares(threshold float64) (p, q float64) {
	above, other := c.counts(threshold)
	return (float64(above) + 0.5) / float64(len(c.P)+1), (float64(other) + 0.5) / float64(len(c.Q)+1)
}

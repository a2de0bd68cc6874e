package strategy

import (
	"cmp"
	"math"

	"mafalda/participation"
)

// ToeplitzSum returns an upper bound of sens² of a Toeplitz strategy under cyclic participation, and the first step of the
// pattern that it comes from: the largest sum over a pattern of the magnitudes of X = CᵀC. With l = T-1-t,
//
//	X[t-eb, t] = A_e(l) = Σ_{j≤l} c_j c_(j+eb),
//
// so that the partial sums of one series for each e < k have all entries of all patterns: O(kT). It is never above
// ToeplitzMajorant but for rounding, which is not counted (see longSensitivity), and not finite where that is not.
// The majorant cannot use that columns of a pattern are orthogonal, as they are at the optimum: on florentine,
// T = 380, k = 20, the best Toeplitz strategy is 10 % above the optimum by the sum, and 23 % by the majorant.
func ToeplitzSum(c []float64, schema participation.Cyclic) (squared float64, first int) {
	steps, k, b := schema.Steps(), schema.Participations(), schema.Separation()
	sums := make([]float64, max(b, steps-(k-1)*b)) // by first step
	along := make([]float64, steps)                // |X[t-eb, t]|, and then its sums over t, t-b, t-2b, …
	for e := range sharedLags(c, schema) {
		signedProducts(c, e*b, along)
		for t := e * b; t < steps; t++ {
			if along[t] = math.Abs(along[t]); t >= (e+1)*b {
				along[t] += along[t-b]
			}
		}
		for s := range sums {
			last := lastStep(s, schema)
			if last < s+e*b {
				continue
			}
			sum := along[last]
			if s >= b {
				sum -= along[s+(e-1)*b]
			}
			sums[s] += pairWeight(e) * sum
		}
	}
	first = worst(sums)
	return sums[first], first
}

// worst returns the place of the first largest number, or of the last that is none.
func worst(sums []float64) (at int) {
	for s, v := range sums {
		if !(v <= sums[at]) {
			at = s
		}
	}
	return at
}

// ToeplitzSumGradient adds the derivative of ToeplitzSum by c, for the pattern that starts in the given step.
func ToeplitzSumGradient(c []float64, schema participation.Cyclic, first int, pull []float64) {
	steps, b := schema.Steps(), schema.Separation()
	last := lastStep(first, schema)
	entries := make([]float64, steps)
	for e := range sharedLags(c, schema) {
		lag := e * b
		signedProducts(c, lag, entries)
		var weight float64 // of c_j c_(j+eb): of all entries that it is in
		next := first + lag
		for j := steps - 1 - next; j >= 0; j-- {
			if t := steps - 1 - j; t == next && t <= last {
				weight += pairWeight(e) * float64(cmp.Compare(entries[t], 0))
				next += b
			}
			if j+lag < len(c) {
				pull[j] += weight * c[j+lag]
				pull[j+lag] += weight * c[j]
			}
		}
	}
}

// SumProducts returns how many products ToeplitzSum takes.
func SumProducts(c []float64, schema participation.Cyclic) float64 {
	return float64(sharedLags(c, schema)) * float64(schema.Steps())
}

// sharedLags returns how many multiples of b, from 0, are distances of two steps of a pattern whose columns overlap.
func sharedLags(c []float64, schema participation.Cyclic) int {
	return min(schema.Participations(), (len(c)-1)/schema.Separation()+1)
}

// lastStep returns the last step of the pattern that starts in step s.
func lastStep(s int, schema participation.Cyclic) int {
	b := schema.Separation()
	return s + min(schema.Participations()-1, (schema.Steps()-1-s)/b)*b
}

// pairWeight is how often the entries that far off the diagonal are in X.
func pairWeight(e int) float64 {
	if e == 0 {
		return 1
	}
	return 2
}

// signedProducts writes X[t-lag, t] for all t from lag on.
func signedProducts(c []float64, lag int, along []float64) {
	var sum float64
	t := len(along) - 1
	for j := 0; j+lag < len(c); j++ {
		sum += c[j] * c[j+lag]
		along[t] = sum
		t--
	}
	for ; t >= lag; t-- {
		along[t] = sum
	}
}

package participation

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// largestByRows is the bound by rows, and the pattern that gives it.
func (m MinSep) largestByRows(x *mat.SymDense) (float64, []int) {
	rows := make([]float64, m.steps)
	for s := range rows {
		before, after := m.sides(x, s, m.separation)
		var best float64
		for j := range m.participations {
			best = max(best, before[j]+after[m.participations-1-j])
		}
		rows[s] = x.At(s, s) + best
	}
	value, pattern := m.heaviest(rows)
	return value * (1 + 4*float64(m.participations+2)*0x1p-53), pattern // sums of at most k, twice
}

// sides returns the largest sums of |x[s,t]| over patterns of at most 0, 1, ..., k-1 steps t that are all at least so
// far before s, and likewise after s.
func (m MinSep) sides(x *mat.SymDense, s, distance int) (before, after []float64) {
	left, right := make([]float64, max(s-distance+1, 0)), make([]float64, max(m.steps-s-distance, 0))
	for t := range left {
		left[t] = math.Abs(x.At(s, t))
	}
	for i := range right {
		right[i] = math.Abs(x.At(s, m.steps-1-i))
	}
	return m.prefixes(left), m.prefixes(right)
}

// largestByNeighbours is the bound by neighbours, and the pattern that gives it. A step whose pattern has further
// steps on one side than its neighbour has the neighbour, too, so that fewer than k-1 can be further.
func (m MinSep) largestByNeighbours(x *mat.SymDense) (float64, []int) {
	k, b := m.participations, m.separation
	own := make([]float64, m.steps) // x[s,s], and all that is further from s than neighbours
	for s := range own {
		before, after := m.sides(x, s, 2*b)
		var best float64
		for j := range k {
			others := k - 1 - j
			if j > 0 {
				others--
			}
			if others >= 0 {
				best = max(best, before[j]+after[max(others-1, 0)])
			}
		}
		own[s] = x.At(s, s) + best
	}
	last := append([]float64(nil), own...) // of the patterns of j steps that end in s, the largest sum
	links := make([][]int, k)              // links[j][s]: the step before s, or -1: s is the first
	value, end, size := 0.0, 0, 0
	for j := range k {
		if j > 0 {
			last, links[j] = m.extend(x, last, own)
		}
		for s, v := range last {
			if v > value {
				value, end, size = v, s, j
			}
		}
	}
	pattern := make([]int, size+1)
	for j := size; j >= 0; j-- {
		pattern[j] = end
		if j > 0 {
			end = links[j][end]
		}
	}
	return value * (1 + 4*float64(2*k+4)*0x1p-53), pattern // sums of at most 2k, of sums of at most k
}

// extend returns, for each step, the largest sum over the patterns that end in it and have one step more than the
// patterns behind last; -Inf if no such pattern exists.
func (m MinSep) extend(x *mat.SymDense, last, own []float64) (next []float64, link []int) {
	next, link = make([]float64, m.steps), make([]int, m.steps)
	for t := range next {
		next[t] = math.Inf(-1)
		for s := range max(t-m.separation+1, 0) {
			if v := last[s] + 2*math.Abs(x.At(s, t)); v > next[t] {
				next[t], link[t] = v, s
			}
		}
		next[t] += own[t]
	}
	return next, link
}

// prefixes returns the largest sums of weights over patterns of at most 0, 1, ..., k-1 steps.
func (m MinSep) prefixes(weights []float64) []float64 {
	best := make([]float64, m.participations)
	if len(weights) == 0 || m.participations == 1 || slices.Max(weights) == 0 {
		return best
	}
	table := m.table(weights, m.participations-1)
	for j := 1; j < m.participations; j++ {
		best[j] = table[j][len(weights)]
	}
	return best
}

// table[j][s] is the largest sum of weights over patterns of at most j steps before s.
func (m MinSep) table(weights []float64, participations int) [][]float64 {
	table := make([][]float64, participations+1)
	table[0] = make([]float64, len(weights)+1)
	for j := 1; j <= participations; j++ {
		table[j] = make([]float64, len(weights)+1)
		for s, w := range weights {
			table[j][s+1] = max(table[j][s], table[j-1][max(s+1-m.separation, 0)]+w)
		}
	}
	return table
}

// heaviest returns the largest sum of weights ≥ 0 over a pattern, and the pattern, ascending.
func (m MinSep) heaviest(weights []float64) (float64, []int) {
	table := m.table(weights, m.participations)
	var pattern []int
	s := m.steps
	for j := m.participations; j > 0 && s > 0; {
		if table[j][s] == table[j][s-1] {
			s--
			continue
		}
		pattern = append([]int{s - 1}, pattern...)
		s = max(s-m.separation, 0)
		j--
	}
	if len(pattern) == 0 { // all weights are zero
		pattern = []int{0}
	}
	return table[m.participations][m.steps], pattern
}

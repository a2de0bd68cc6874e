package participation

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// SoftMaximum returns log(Σ_π exp(β Σ_{s,t∈π} x[s,t]))/β over patterns π of the schema, and adds its derivative by the
// entries of x, T×T row by row, to gradient. For x ≥ 0 it tends to the largest sum of a pattern as β grows; the
// difference is at most the logarithm of the number of patterns over β.
//
// Under min-sep entries of steps that are 2b or more apart count as zero; these are the patterns whose steps meet in
// pairs, so that a dynamic program goes over all of them. Other schemas' patterns are taken one by one.
func SoftMaximum(s Schema, x *mat.SymDense, beta float64, gradient []float64) float64 {
	if m, ok := s.(MinSep); ok && m.participations > 1 {
		return newSoftChain(m, x, beta).addTo(gradient)
	}
	if p, ok := s.(*People); ok {
		return p.softMaximum(x, beta, gradient)
	}
	patterns := Pool(s)
	sums := make([]float64, len(patterns))
	for i, pattern := range patterns {
		for _, s := range pattern {
			for _, t := range pattern {
				sums[i] += beta * x.At(s, t)
			}
		}
	}
	total := logSum(sums)
	for i, pattern := range patterns {
		share := math.Exp(sums[i] - total)
		if share < 1e-16 {
			continue
		}
		for _, s := range pattern {
			for _, t := range pattern {
				gradient[s*x.SymmetricDim()+t] += share
			}
		}
	}
	return total / beta
}

// softChain sums over the patterns of min-sep: forward[j][s] is the logarithm of the sum over patterns of j+1 steps
// that end in s, backward[j][s] over what can follow on them. Where no pattern can have more than k steps anyway,
// steps are not counted, and j = 0 stands for all.
type softChain struct {
	MinSep
	beta              float64
	x                 *mat.SymDense
	forward, backward [][]float64
}

// nextRow returns the row whose patterns have one step more than the patterns of row j, or -1 for the last row.
func (c *softChain) nextRow(j int) int {
	switch {
	case c.participations*c.separation >= c.steps:
		return 0
	case j+1 == c.participations:
		return -1
	}
	return j + 1
}

func newSoftChain(m MinSep, x *mat.SymDense, beta float64) *softChain {
	c := &softChain{MinSep: m, beta: beta, x: x, forward: [][]float64{make([]float64, m.steps)}}
	c.forwardTo(0, nil)
	for j := 0; c.nextRow(j) == j+1; j++ {
		c.forward = append(c.forward, make([]float64, m.steps))
		c.forwardTo(j+1, c.forward[j])
	}
	for range c.forward {
		c.backward = append(c.backward, make([]float64, m.steps))
	}
	for j := len(c.backward) - 1; j >= 0; j-- {
		if next := c.nextRow(j); next >= 0 {
			c.backwardTo(c.backward[j], c.backward[next])
		}
	}
	return c
}

// forwardTo fills row j from the row of patterns with one step less; nil: the row starts patterns, and goes on with
// its own if steps are not counted.
func (c *softChain) forwardTo(j int, before []float64) {
	row, b := c.forward[j], c.separation
	far := math.Inf(-1) // of steps that are 2b or more before, or none
	if before == nil {
		far = 0
		if c.nextRow(j) == j {
			before = row
		}
	}
	terms := make([]float64, 0, b+1)
	for t := range row {
		if before != nil && t >= 2*b {
			far = logSum(append(terms[:0], far, before[t-2*b]))
		}
		terms = append(terms[:0], far)
		for s := max(t-2*b+1, 0); before != nil && s <= t-b; s++ {
			terms = append(terms, before[s]+2*c.beta*c.x.At(s, t))
		}
		row[t] = c.beta*c.x.At(t, t) + logSum(terms)
	}
}

// backwardTo fills a row of backward from the row of patterns with one step more.
func (c *softChain) backwardTo(row, after []float64) {
	b := c.separation
	terms := make([]float64, 0, b+1)
	far := 0.0 // of steps that are 2b or more after, or none
	for s := c.steps - 1; s >= 0; s-- {
		if t := s + 2*b; t < c.steps {
			far = logSum(append(terms[:0], far, c.beta*c.x.At(t, t)+after[t]))
		}
		terms = append(terms[:0], far)
		for t := s + b; t < min(s+2*b, c.steps); t++ {
			terms = append(terms, c.beta*(c.x.At(t, t)+2*c.x.At(s, t))+after[t])
		}
		row[s] = logSum(terms)
	}
}

// leastShare is the logarithm of shares that are left out.
const leastShare = -40

// addTo adds the shares of single steps and of neighbours to gradient, and returns the maximum.
func (c *softChain) addTo(gradient []float64) float64 {
	total := math.Inf(-1)
	for _, row := range c.forward {
		total = logSum([]float64{total, logSum(row)})
	}
	for j, row := range c.forward {
		next := c.nextRow(j)
		for s, f := range row {
			share := f + c.backward[j][s] - total
			if share < leastShare {
				continue
			}
			gradient[s*c.steps+s] += math.Exp(share)
			for t := s + c.separation; next >= 0 && t < min(s+2*c.separation, c.steps); t++ {
				share := f + c.beta*(c.x.At(t, t)+2*c.x.At(s, t)) + c.backward[next][t] - total
				if share > leastShare {
					gradient[s*c.steps+t] += math.Exp(share)
					gradient[t*c.steps+s] += math.Exp(share)
				}
			}
		}
	}
	return total / c.beta
}

// logSum returns log Σ exp(v).
func logSum(v []float64) float64 {
	largest := math.Inf(-1)
	for _, a := range v {
		largest = max(largest, a)
	}
	if math.IsInf(largest, 0) {
		return largest
	}
	var sum float64
	for _, a := range v {
		if a > largest+leastShare {
			sum += math.Exp(a - largest)
		}
	}
	return largest + math.Log(sum)
}

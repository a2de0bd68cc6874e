package participation

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// SoftMaximum returns log(Σ_π exp(β Σ_{s,t∈π} x[s,t]))/β over patterns π of the schema, and adds its derivative by the entries
// of x, T×T row by row, to gradient. For x ≥ 0 it tends to the largest sum of a pattern as β grows; the difference is at most
// the logarithm of the number of patterns over β.
//
// Under min-sep entries of steps that are 2b or more apart count as zero; these are the patterns whose steps meet in pairs, so
// that a dynamic program goes over all of them. Other schemas' patterns are taken one by one.
func SoftMaximum(s Schema, x *mat.SymDense, beta float64, gradient []float64) float64 {
	if m, ok := s.(MinSep); ok && m.participations > 1 {
		return newSoftChain(m, x, beta).addTo(gradient)
	}
	patterns := s.Disjoint()
	if listed, ok := s.(interface{ Patterns() [][]int }); ok {
		patterns = listed.Patterns()
	}
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

// softChain sums over the patterns of min-sep: forward[j][s] is the logarithm of the sum over patterns of j+1 steps that end in
// s, backward[j][s] over what can follow on them.
type softChain struct {
	MinSep
	beta              float64
	x                 *mat.SymDense
	forward, backward [][]float64
}

func newSoftChain(m MinSep, x *mat.SymDense, beta float64) *softChain {
	c := &softChain{MinSep: m, beta: beta, x: x}
	for range m.participations {
		c.forward = append(c.forward, make([]float64, m.steps))
		c.backward = append(c.backward, make([]float64, m.steps))
	}
	terms := make([]float64, 0, m.separation+1)
	for j, row := range c.forward {
		far := math.Inf(-1) // of steps that are 2b or more before
		for t := range row {
			own := beta * x.At(t, t)
			if j == 0 {
				row[t] = own
				continue
			}
			before := c.forward[j-1]
			if t >= 2*m.separation {
				far = logSum([]float64{far, before[t-2*m.separation]})
			}
			terms = append(terms[:0], far)
			for s := max(t-2*m.separation+1, 0); s <= t-m.separation; s++ {
				terms = append(terms, before[s]+2*beta*x.At(s, t))
			}
			row[t] = own + logSum(terms)
		}
	}
	for j := m.participations - 2; j >= 0; j-- {
		far := 0.0 // of steps that are 2b or more after, or none
		after := c.backward[j+1]
		for s := m.steps - 1; s >= 0; s-- {
			if t := s + 2*m.separation; t < m.steps {
				far = logSum([]float64{far, beta*x.At(t, t) + after[t]})
			}
			terms = append(terms[:0], far)
			for t := s + m.separation; t < min(s+2*m.separation, m.steps); t++ {
				terms = append(terms, beta*(x.At(t, t)+2*x.At(s, t))+after[t])
			}
			c.backward[j][s] = logSum(terms)
		}
	}
	return c
}

// addTo adds the shares of single steps and of neighbours to gradient, and returns the maximum.
func (c *softChain) addTo(gradient []float64) float64 {
	total := math.Inf(-1)
	for s := range c.steps {
		total = logSum([]float64{total, c.forward[0][s] + c.backward[0][s]})
	}
	for j, row := range c.forward {
		for s, f := range row {
			if share := f + c.backward[j][s] - total; share > -40 {
				gradient[s*c.steps+s] += math.Exp(share)
			} else {
				continue
			}
			for t := s + c.separation; j+1 < c.participations && t < min(s+2*c.separation, c.steps); t++ {
				share := f + c.beta*(c.x.At(t, t)+2*c.x.At(s, t)) + c.backward[j+1][t] - total
				if share > -40 {
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
		if a > largest-40 {
			sum += math.Exp(a - largest)
		}
	}
	return largest + math.Log(sum)
}

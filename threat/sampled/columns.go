package sampled

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"mafalda/internal/limits"
	"mafalda/internal/lists"
	"mafalda/internal/rounding"
	"mafalda/strategy"
	"mafalda/threat"
)

// MaxSteps is the largest T that Audit takes.
const MaxSteps = 10000

// columns are a strategy's entries, without the zeros at both ends of a column.
type columns []column

// column has the entries of rows at, at+1, ...
type column struct {
	at      int
	entries []float64
}

func columnsOf(c strategy.Strategy) (columns, error) {
	steps := c.Steps()
	if steps > MaxSteps {
		return nil, fmt.Errorf("%w: T = %d is above %d; take fewer steps", threat.ErrAudit, steps, MaxSteps)
	}
	if err := limits.Fits(fmt.Sprintf("a strategy of T = %d", steps), 2*8*float64(steps)*float64(steps)); err != nil {
		return nil, err
	}
	lower := strategy.LowerOf(c)
	out := make(columns, steps)
	for s := range steps {
		last := s
		for t := s; t < steps; t++ {
			if lower.At(t, s) != 0 {
				last = t
			}
		}
		entries := lists.Make(last+1-s, func(i int) float64 { return lower.At(s+i, s) })
		out[s] = column{s, entries}
	}
	return out, nil
}

// end is the row after the last one with an entry.
func (c column) end() int { return c.at + len(c.entries) }

// norm returns the norm of the column, rounded up.
func (c column) norm() float64 {
	var sum rounding.Sum
	for _, x := range c.entries {
		sum.AddProduct(x, x)
	}
	return rounding.SqrtUp(sum.Up())
}

// largestNorm returns the largest norm of all columns, rounded up.
func (c columns) largestNorm() float64 {
	largest := 0.0
	for _, column := range c {
		largest = max(largest, column.norm())
	}
	return largest
}

// sum returns the sum of the columns of a record's steps: how far the messages, multiplied by C, are moved.
func (c columns) sum(steps []int) []float64 {
	out := make([]float64, len(c))
	for _, s := range steps {
		floats.Add(out[s:c[s].end()], c[s].entries)
	}
	return out
}

// every returns the steps from, from+apart, ... below T.
func (c columns) every(from, apart int) []int {
	var steps []int
	for s := from; s < len(c); s += apart {
		steps = append(steps, s)
	}
	return steps
}

// multiplyTo writes C times the rows of messages, one a step, to dst.
func (c columns) multiplyTo(dst, messages [][]float64) {
	for t := range dst {
		clear(dst[t])
	}
	for s, column := range c {
		for i, x := range column.entries {
			floats.AddScaled(dst[s+i], x, messages[s])
		}
	}
}

package reaction

import (
	"slices"

	"mafalda/internal/lists"
	"mafalda/strategy"
)

// Correlated returns a system whose nodes add rows of C⁻¹Z to their gradients, white noise Z that the strategy C
// correlates: every node keeps the memory of the strategy's filter in place of fresh noise alone. The error is the
// filter's: C has no inverse.
//
// A bound costs (m·(size + memory))³ a step. What is too large is for Dominate.
func (s *System) Correlated(c strategy.Strategy) (*System, error) {
	filter, err := c.Filter()
	if err != nil {
		return nil, err
	}
	out := &System{Nodes: s.Nodes, Steps: make([]Step, len(s.Steps))}
	for t, step := range s.Steps {
		out.Steps[t] = step
		rule := withFilter(s.rule(t), filter, t)
		if t > 0 && slices.EqualFunc(rule, out.Steps[t-1].Rule, slices.Equal[[]float64]) {
			rule = out.Steps[t-1].Rule
		}
		out.Steps[t].Rule = rule
	}
	return out, nil
}

// FilterStep returns what a filter does in step t: the correlated noise ξ = C⁻¹z that it makes, and the numbers that it
// keeps after it, as rows of coefficients of (the numbers kept before, white noise z). That shows when it runs with unit
// vectors.
func FilterStep(f strategy.Filter, t int) (noise []float64, kept [][]float64) {
	memory := f.Memory()
	kept = lists.Make(memory, func(i int) []float64 { return unitVector(memory+1, i) })
	noise = make([]float64, memory+1)
	f.StepTo(noise, unitVector(memory+1, memory), kept, t)
	return noise, kept
}

// withFilter returns a rule whose noise is made by step t of a filter.
func withFilter(rule Rule, filter strategy.Filter, t int) Rule {
	memory := filter.Memory()
	size, width := rule.size(), rule.size()+memory+2
	made, kept := FilterStep(filter, t)
	out := make(Rule, 0, size+memory)
	for p := range size {
		coefficients, gradient, noise := rule.row(p)
		row := make([]float64, width)
		copy(row, coefficients)
		for i, x := range made[:memory] {
			row[size+i] = noise * x
		}
		row[width-2], row[width-1] = gradient, noise*made[memory]
		out = append(out, row)
	}
	for _, k := range kept {
		row := make([]float64, width)
		copy(row[size:], k[:memory])
		row[width-1] = k[memory]
		out = append(out, row)
	}
	return out
}

package sampled

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"mafalda/internal/lists"
	"mafalda/participation"
	"mafalda/threat"
)

// onSecret attacks a record whose group the attacker knows, the one that tells most: where steps exclude each other one of
// the fewest steps, which hide least.
func onSecret(s participation.Secret, c columns, std float64) (attack, error) {
	groups, rest := s.Known()
	few := len(c) / groups
	steps := c.worstGroup(groups, len(rest.Choices(few)) < few)
	test, err := c.exclusive(rest.Choices(len(steps)), steps, std)
	return attack{within: rest, steps: steps, logRatio: test, with: 1}, err
}

// exclusive returns the likelihood ratio for choices among steps of a group: with choices that show in different rows it is
// the product over them of 1 - q + q·the mean, over the sets of a choice, of exp(m·y/ν² - |m|²/2ν²), q its probability and m
// the sum of a set's columns.
func (c columns) exclusive(choices []participation.Choice, steps []int, std float64) (func(seen []float64) float64, error) {
	for i, s := range steps[1:] {
		if len(choices) > 1 && c[steps[i]].end() > s {
			return nil, fmt.Errorf("%w: participations of one group show in one step, for which there is no likelihood ratio here; take as "+
				"many groups as bands", threat.ErrAudit)
		}
	}
	tests := lists.Map(choices, func(of participation.Choice) []shift {
		return lists.Map(of.Sets, func(set []int) shift {
			return newShift(c.sum(lists.Map(set, func(i int) int { return steps[i] })), std)
		})
	})
	return func(seen []float64) float64 {
		total, product := 0.0, 1.0
		var scores []float64
		for i, choice := range tests {
			q, most := choices[i].Probability, 0.0
			if q == 1 {
				most = math.Inf(-1)
			}
			scores = scores[:0]
			for _, set := range choice {
				scores = append(scores, set.logRatio(seen))
				most = math.Max(most, scores[len(scores)-1])
			}
			sum := 0.0
			for _, score := range scores {
				sum += math.Exp(score - most)
			}
			if sum *= q / float64(len(choice)); q < 1 {
				sum += (1 - q) * math.Exp(-most)
			}
			if total, product = total+most, product*sum; product < 1e-200 {
				total, product = total+math.Log(product), 1
			}
		}
		return total + math.Log(product)
	}, nil
}

// worstGroup returns the steps of the group whose columns have the largest norms; with fewest, of the groups of the
// fewest steps.
func (c columns) worstGroup(groups int, fewest bool) []int {
	var worst []int
	most := 0.0
	for g := range groups {
		steps, sum := c.every(g, groups), 0.0
		for _, s := range steps {
			norm := floats.Norm(c[s].entries, 2)
			sum += norm * norm
		}
		fewer, more := len(steps) < len(worst), len(steps) > len(worst)
		if worst == nil || fewest && fewer || !(fewest && more) && sum > most*(1+1e-9) {
			worst, most = steps, sum
		}
	}
	return worst
}

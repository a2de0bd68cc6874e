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
	choices := rest.Choices(len(steps))
	if len(choices) == len(steps) { // independent ones
		test, err := newBlocks(c, steps, choices[0].Probability, std)
		if err != nil {
			return attack{}, err
		}
		return attack{within: rest, steps: steps, logRatio: test.logRatio, with: 1}, nil
	}
	logs, err := c.exclusive(choices, steps, std)
	return attack{within: rest, steps: steps, logRatio: logs, with: 1}, err
}

// exclusive returns the likelihood ratio for choices among steps of a group: with choices that show in different rows it is
// the product over them of the mean, over the sets of a choice, of exp(m·y/ν² - |m|²/2ν²), m being the sum of a set's columns.
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
		var sum float64
		for i, choice := range tests {
			each := lists.Map(choice, func(set shift) float64 { return set.logRatio(seen) })
			any := floats.LogSumExp(each) - math.Log(float64(len(choice)))
			if p := choices[i].Probability; p < 1 {
				any = floats.LogSumExp([]float64{math.Log(p) + any, math.Log1p(-p)})
			}
			sum += any
		}
		return sum
	}, nil
}

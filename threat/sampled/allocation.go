package sampled

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"mafalda/internal/lists"
	"mafalda/participation"
	"mafalda/threat"
)

// onAllocation attacks a record whose group the attacker knows, of the fewest steps, so that its blocks hide least. With
// no more bands than groups the changes of different steps are orthogonal, and the likelihood ratio is the product over
// the blocks of the mean, over the steps of a block, of exp(m_s·y/ν² - |m_s|²/2ν²).
func onAllocation(a participation.AllocationSampling, c columns, std float64) (attack, error) {
	steps := c.smallestGroup(a.Groups)
	within := participation.AllocationSampling{Groups: 1, Participations: a.Participations}
	blocks := make([][]shift, a.Participations)
	for i, s := range steps {
		if c[s].end() > s+a.Groups && i+1 < len(steps) {
			return attack{}, fmt.Errorf("%w: participations of one group show in one step, for which allocation has no likelihood "+
				"ratio here; take as many groups as bands", threat.ErrAudit)
		}
		block, _, _ := within.Block(i, len(steps))
		blocks[block] = append(blocks[block], newShift(c.sum([]int{s}), std))
	}
	logs := func(seen []float64) float64 {
		var sum float64
		for _, block := range blocks {
			each := lists.Map(block, func(step shift) float64 { return step.logRatio(seen) })
			sum += floats.LogSumExp(each) - math.Log(float64(len(block)))
		}
		return sum
	}
	draw := func(key participation.Key, records int, takesPart func(step, record int)) error {
		return drawSteps(within, steps, key, records, takesPart)
	}
	return attack{draw: draw, logRatio: logs, with: 1}, nil
}

// smallestGroup returns the steps of the group that has the fewest, and of these of the largest columns.
func (c columns) smallestGroup(groups int) []int {
	var worst []int
	most := 0.0
	for g := range groups {
		steps, sum := c.every(g, groups), 0.0
		for _, s := range steps {
			norm := floats.Norm(c[s].entries, 2)
			sum += norm * norm
		}
		if worst == nil || len(steps) < len(worst) || len(steps) == len(worst) && sum > most*(1+1e-9) {
			worst, most = steps, sum
		}
	}
	return worst
}

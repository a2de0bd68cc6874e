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
	steps := c.worstGroup(a.Groups, true)
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
	return attack{within: within, steps: steps, logRatio: logs, with: 1}, nil
}

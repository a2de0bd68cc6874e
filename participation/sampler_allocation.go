package participation

import (
	"cmp"
	"fmt"

	"mafalda/internal/fault"
)

// AllocationSampling has every record take part a fixed number of times: every record is put once, independently and
// uniformly, into one of w groups; the steps t of group t mod w are cut into k blocks, as even as can be, and in each
// block the record takes part in one step, drawn independently of all others and uniformly. Batches have random sizes.
// It is not a permutation that is cut into batches. w = 1 is the random allocation of Chua et al. 2024 and Feldman &
// Shenfeld 2025.
type AllocationSampling struct {
	Groups         int // w
	Participations int // k, at most ⌊T/w⌋
}

var _ Secret = AllocationSampling{}

// Name returns "allocation".
func (AllocationSampling) Name() string { return nameAllocation }

// String describes the sampling in a line.
func (a AllocationSampling) String() string {
	if a.Groups == 1 {
		return fmt.Sprintf("allocation: every record in one step, drawn at random, of each of k = %d blocks", a.Participations)
	}
	return fmt.Sprintf("allocation: w = %d groups, drawn once, in turn; every record of one in one step, drawn at random, of "+
		"each of its k = %d blocks", a.Groups, a.Participations)
}

// Known returns the groups.
func (a AllocationSampling) Known() (groups int, rest Secret) {
	groups, a.Groups = a.Groups, 1
	return groups, a
}

// Choices returns one of every block.
func (a AllocationSampling) Choices(steps int) []Choice {
	blocks := make([]Choice, a.Participations)
	for step := range steps {
		block, _, _ := a.Block(step, steps)
		blocks[block].Probability = 1
		blocks[block].Sets = append(blocks[block].Sets, []int{step})
	}
	return blocks
}

// Block returns which block of its group a step is in, the place in it and the number of the group's steps in it.
func (a AllocationSampling) Block(step, steps int) (block, place, size int) {
	own := (steps - step%a.Groups - 1) / a.Groups // steps of the group, less one
	at, n := step/a.Groups, own+1
	block = ((at+1)*a.Participations - 1) / n
	first := block * n / a.Participations
	return block, at - first, (block+1)*n/a.Participations - first
}

// Sampler returns what draws the batches. Batch takes the time of a random number for every record of all groups.
func (a AllocationSampling) Sampler(o SamplerOptions) (Sampler, error) {
	if err := cmp.Or(o.check(true), o.checkTurns("Groups", a.Groups)); err != nil {
		return nil, err
	}
	if most := o.Steps / a.Groups; a.Participations < 1 || a.Participations > most {
		return nil, fault.New("Participations", a.Participations, "must be from 1 to %d, the steps of a group", most)
	}
	groups := o.Key.assign(forAllocatedGroups, o.Records, a.Groups)
	expected := float64(o.Records) * float64(a.Participations) / float64(o.Steps)
	return &drawing{a, everyTurn(o.Steps, a.Groups), o.Records, expected, func(step int) (batch []int) {
		block, place, size := a.Block(step, o.Steps)
		o.Key.eachNumber(forAllocation, block, o.Records, func(record int, number uint64) {
			v, ok := uniform(number, uint64(size))
			for attempt := 1; !ok; attempt++ {
				v, ok = uniform(o.Key.number(forAllocation, block+attempt*a.Participations, record), uint64(size))
			}
			if groups[record] == step%a.Groups && int(v) == place {
				batch = append(batch, record)
			}
		})
		return batch
	}}, nil
}

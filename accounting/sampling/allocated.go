package sampling

import (
	"fmt"

	"mafalda/accounting/allocation"
	"mafalda/internal/fault"
	"mafalda/participation"
)

// allocated is participation.Allocation.
type allocated struct{}

func (allocated) Traits() Traits {
	return Traits{Banded: true, Parameters: []string{"choices", "rounds"},
		About: "in secret, every record in one step, drawn at random, of each of k blocks of its group's steps; T = k·b"}
}

func (allocated) Check(schema participation.Schema) error {
	k, b, steps := schema.Participations(), schema.Separation(), schema.Steps()
	if steps == k*b && k <= allocation.MaxRounds && b <= allocation.MaxChoices {
		return nil
	}
	return fault.New("Participations", k, "[Sampling] %v has every record take part exactly k times: T = %d must be k·b = %d, with k up to "+
		"%d and b up to %d", participation.Allocation, steps, k*b, allocation.MaxRounds, allocation.MaxChoices)
}

func (allocated) Numbers(s Scheme, schema participation.Schema, groups int) Numbers {
	n := poisson{}.Numbers(s, schema, groups)
	n.Rounds = schema.Participations()
	return n
}

// Draw returns the blocks of a group of the fewest steps, which hide least.
func (allocated) Draw(n Numbers) (Draw, error) {
	if n.Rounds < 1 {
		return nil, fault.New("Rounds", n.Rounds, "must be from 1 to %d", allocation.MaxRounds)
	}
	return allocation.New(allocation.Cut(n.Steps/n.Groups, n.Rounds)...)
}

// Begun returns the blocks that have steps before t as if they were over: a run that ends in the middle of a block is the
// beginning of one that ends with it. A record's group is known, and the worst one counts.
func (allocated) Begun(n Numbers, t int) ([]Draw, error) {
	of := participation.AllocationSampling{Groups: n.Groups, Participations: n.Rounds}
	var all []Draw
	for group := range min(n.Groups, t) {
		smallest := (n.Steps - group - 1 + n.Groups) / n.Groups / n.Rounds
		begun := []allocation.Blocks{{Choices: smallest}, {Choices: smallest + 1}}
		for step := group; step < t; step += n.Groups {
			if _, place, size := of.Block(step, n.Steps); place == 0 {
				begun[size-smallest].Rounds++
			}
		}
		m, err := allocation.New(begun...)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

func (allocated) Sampling(n Numbers) participation.Sampling {
	return participation.AllocationSampling{Groups: n.Groups, Participations: n.Rounds}
}

func (allocated) Read(s participation.Sampling, _ int) (n Numbers, is bool) {
	a, is := s.(participation.AllocationSampling)
	n.Groups, n.Rounds = a.Groups, a.Participations
	return n, is
}

func (allocated) Condition(n Numbers) string {
	steps := "the steps"
	if n.Groups > 1 {
		steps = fmt.Sprintf("the steps t of each group t mod %d", n.Groups)
	}
	return fmt.Sprintf("%s%s are cut into %d blocks, as even as can be, and in each a record takes part in one step, drawn at random, "+
		"uniformly and independently", n.inGroups(), steps, n.Rounds)
}

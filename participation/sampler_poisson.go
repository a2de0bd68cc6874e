package participation

import (
	"cmp"
	"fmt"

	"mafalda/internal/lists"
)

// PoissonSampling draws from one group of the records after the other: every record is put once, independently and
// uniformly, into one of w groups, and step t takes every record of group t mod w independently with probability q.
// Groups are not cut by position: a record that is taken out would move others. With a strategy of at most w bands this
// is at most ⌈T/w⌉ rounds of the Poisson-subsampled Gaussian mechanism for every record (Choquette-Choo et al. 2023,
// "(Amplified) Banded Matrix Factorization"). w = 1 is the sampling of DP-SGD.
type PoissonSampling struct {
	Groups      int     // w
	Probability float64 // q; the one that is realized is never above, and less than 2⁻⁶⁴ below
}

var _ Secret = PoissonSampling{}

// Name returns "poisson".
func (PoissonSampling) Name() string { return namePoisson }

// String describes the sampling in a line.
func (p PoissonSampling) String() string {
	if p.Groups == 1 {
		return fmt.Sprintf("poisson: every record in every step with probability %g", p.Probability)
	}
	return fmt.Sprintf("poisson: w = %d groups, drawn once, in turn; every record of one with probability %g",
		p.Groups, p.Probability)
}

// Rounds returns in how many of T steps the records of the first group, which has the most, can be drawn: ⌈T/w⌉.
func (p PoissonSampling) Rounds(steps int) int { return (steps-1)/p.Groups + 1 }

// Known returns the groups.
func (p PoissonSampling) Known() (groups int, rest Secret) {
	groups, p.Groups = p.Groups, 1
	return groups, p
}

// Choices returns one of every step.
func (p PoissonSampling) Choices(steps int) []Choice {
	return lists.Make(steps, func(step int) Choice { return Choice{p.Probability, [][]int{{step}}} })
}

// Sampler returns what draws the batches. Batch takes the time of a random number for every record of all groups.
func (p PoissonSampling) Sampler(o SamplerOptions) (Sampler, error) {
	if err := cmp.Or(o.check(true), o.checkTurns("Groups", p.Groups), checkProbability(p.Probability)); err != nil {
		return nil, err
	}
	c, groups := newCoin(p.Probability), o.Key.assign(forGroups, o.Records, p.Groups)
	expected := float64(o.Records) / float64(p.Groups) * p.Probability
	return &drawing{p, everyTurn(o.Steps, p.Groups), o.Records, expected, func(step int) (batch []int) {
		o.Key.eachNumber(forPoisson, step, o.Records, func(record int, number uint64) {
			if groups[record] == step%p.Groups && c.comesUp(number) {
				batch = append(batch, record)
			}
		})
		return batch
	}}, nil
}

package noise

import (
	"fmt"
	"math"
	"testing"

	"mafalda/accounting"
	"mafalda/accounting/allocation"
	"mafalda/export"
)

// Under random allocation an odometer says no less than the beginning of a run gives away: a block of one step is no
// secret, and a part of a block takes what the first steps of it do, drawn with the probability of a step in its own block,
// which is above w·k/T where groups are not of one size. It never falls, and ends at the plan's guarantee.
func TestSpentUnderAllocation(t *testing.T) {
	over := map[string]float64{}
	const steps, k, delta, noise = 14, 3, 1e-5, 1.3
	for _, groups := range []int{2, 3} {
		worst, err := allocation.New(allocation.Cut(steps/groups, k)...)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := worst.Epsilon(delta, noise)
		if err != nil {
			t.Fatal(err)
		}
		m := &export.Manifest{Steps: steps, Sampling: &export.Sampling{Scheme: export.SchemeAllocation, Groups: groups, Rounds: k,
			Probability: float64(groups*k) / steps, NoiseMultiplier: noise, Delta: delta, Epsilon: &plan}}
		d := delta
		p := &export.Privacy{Epsilon: &plan, Delta: &d, Clip: 1, Adjacency: "zero-out", NoiseStd: noise}
		o := &Odometer{manifest: m, privacy: p, std: noise}
		if err := o.start(nil); err != nil {
			t.Fatal(err)
		}
		before := 0.0
		for after := 1; after <= steps; after++ {
			s, err := o.After(after)
			if err != nil {
				t.Fatal(err)
			}
			if least := leastAllocated(t, over, groups, after, steps, k, delta, noise); *s.Epsilon < least || *s.Epsilon < before {
				t.Errorf("%d groups, %d steps: epsilon = %v, which is at least %v, and was %v before", groups, after,
					*s.Epsilon, least, before)
			}
			before = *s.Epsilon
		}
		if before != plan {
			t.Errorf("%d groups: %v after all steps, where the plan has %v", groups, before, plan)
		}
	}
}

// leastAllocated returns a lower bound of ε after some steps: of the blocks of a group that are over, and of the first steps of a
// block alone, at which the record takes part with the probability that the block's size says (q·N(1, s²) + (1-q)·N(0, s²)
// against N(0, s²)).
func leastAllocated(t *testing.T, known map[string]float64, groups, after, steps, k int, delta, noise float64) float64 {
	t.Helper()
	least := 0.0
	for group := range groups {
		n := 0 // steps of the group
		for step := group; step < steps; step += groups {
			n++
		}
		done := (after - group + groups - 1) / groups // of them before after
		var over []allocation.Blocks
		for j := range k {
			if from, to := j*n/k, (j+1)*n/k; to <= done {
				over = append(over, allocation.Blocks{Choices: to - from, Rounds: 1})
			} else if from < done {
				least = math.Max(least, sampledOnce(1/float64(to-from), delta, noise))
			}
		}
		if len(over) == 0 {
			continue
		}
		name := fmt.Sprint(over)
		if known[name] == 0 {
			m, err := allocation.New(over...)
			if err != nil {
				t.Fatal(err)
			}
			if known[name], err = m.Epsilon(delta, noise); err != nil {
				t.Fatal(err)
			}
		}
		least = math.Max(least, known[name]*(1-1e-3)) // the accountant's is a little above the least
	}
	return least
}

// sampledOnce returns the least ε of one step in which a record takes part with probability q: δ(ε) of its removal is
// q·δ'(ε'), δ' of a Gaussian mechanism, with e^ε' = 1 + (e^ε - 1)/q.
func sampledOnce(q, delta, noise float64) float64 {
	own, err := accounting.Epsilon(1/noise, delta/q)
	if err != nil || delta >= q {
		return 0
	}
	return math.Log1p(q*math.Expm1(own)) * (1 - 1e-6)
}

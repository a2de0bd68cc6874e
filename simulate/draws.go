package simulate

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"mafalda/accounting"
	"mafalda/accounting/sampling"
	"mafalda/participation"
)

// draws are training records dealt to nodes, each of which draws its batches by a sampler. The divisor of sums is the
// expected size, which is public; a batch may be empty, and its step takes noise all the same.
type draws struct {
	shards   *shards
	samplers []participation.Sampler // samplers by node
}

// newDraws deals the records as deal does, one batch a node. Keys are seeded: simulated noise protects no record.
func newDraws(c Config, train Dataset, nodes int, seed uint64) (*draws, error) {
	dealt, err := deal(train, nodes, 1, random(seed, forShards, 0))
	if err != nil {
		return nil, err
	}
	d := &draws{shards: dealt}
	for u := range nodes {
		from, to := dealt.batch(u, 0)
		s, err := c.Sampling.Sampler(participation.SamplerOptions{Records: to - from, Steps: c.Schema.Steps(),
			Key: participation.SeededKey(seed, strconv.Itoa(u))})
		if err != nil {
			return nil, err
		}
		d.samplers = append(d.samplers, s)
	}
	return d, nil
}

func (d *draws) take(l *participation.Ledger, node, step int) (batch Dataset, divisor float64, err error) {
	first, _ := d.shards.batch(node, 0)
	rows := d.samplers[node].Batch(step)
	for i := range rows {
		rows[i] += first
		if err := l.Admit(rows[i], step); err != nil {
			return Dataset{}, 0, err
		}
	}
	return d.shards.data.Pick(rows), d.divisor(node), nil
}

func (d *draws) divisor(node int) float64 { return d.samplers[node].Expected() }

// checkSampling rejects noise for other batches than the run's: a level that does not describe them, and strategies that
// the accountant does not cover.
func (n *Noise) checkSampling(c Config) error {
	secret, level := groupsOf(c.Sampling) > 0, n.Mu
	if secret {
		level = n.Multiplier
	}
	switch {
	case secret && n.Mu != 0:
		return fmt.Errorf("%w: noise for μ = %v: batches drawn in secret are not described by μ", ErrData, n.Mu)
	case !secret && n.Multiplier != 0:
		return fmt.Errorf("%w: a noise multiplier of %v is for batches drawn in secret", ErrData, n.Multiplier)
	case !(level > 0) || math.IsInf(level, 1):
		return fmt.Errorf("noise for μ = %v, a multiplier of %v: must be positive and finite", n.Mu, n.Multiplier)
	case secret && n.Adjacency != accounting.ZeroOut:
		return fmt.Errorf("%w: noise for %v neighbours: batches drawn in secret are accounted for under %v alone",
			ErrData, n.Adjacency, accounting.ZeroOut)
	}
	return n.Correlation.checkSampling(c)
}

// groupsOf returns how many groups, or bins, batches are drawn from in secret; 0 for other batches.
func groupsOf(s participation.Sampling) int {
	if s == nil {
		return 0
	}
	n, _ := sampling.NumbersOf(s, 1, accounting.ZeroOut)
	return n.Groups
}

// checkSampling refuses strategies that the sensitivity and the sampling's accountant do not fit. Columns of a group must
// have disjoint supports: the largest norm is what is accounted for.
func (c *Correlation) checkSampling(run Config) error {
	switch s := run.Sampling.(type) {
	case participation.BinsSampling:
		if slices.ContainsFunc(c.layers, func(l layer) bool { return !l.nonNegative }) {
			return fmt.Errorf("%w: a strategy with negative entries: bins are accounted for without them", ErrData)
		}
		return participation.CheckCycle(c.schema, s.Bins)
	case participation.Secret:
		if bands, groups := c.Bands(), groupsOf(s); bands > groups {
			return fmt.Errorf("%w: a strategy of %d bands, drawn from %d groups: columns of one group would meet",
				participation.ErrViolated, bands, groups)
		}
		return nil
	case participation.CyclicSampling:
		return participation.CheckCycle(c.schema, s.Batches)
	case nil:
		return participation.CheckCycle(c.schema, run.Batches)
	}
	return nil // the ledger finds out
}

package threat

import (
	"cmp"
	"context"
	"math"

	"mafalda/participation"
)

// GrowthRow is what one attacker learns in T steps, as squared sensitivity a step. Absent numbers do not apply, or are
// infinite.
type GrowthRow struct {
	Steps      int      `json:"steps"`                // T
	Neighbours *float64 `json:"neighbours,omitempty"` // mean over victims one hop away
	Others     *float64 `json:"others,omitempty"`     // mean over all others

	Local *float64 `json:"ldp_sens_squared,omitempty"` // local DP, which holds where Reaction.HoldsFor does not

	// What Neighbours and Others would be for the networks and absences of the seed alone, where some are drawn.
	NeighboursDrawn *float64 `json:"neighbours_drawn,omitempty"`
	OthersDrawn     *float64 `json:"others_drawn,omitempty"`

	// Means if gradients do not react to models. In training they do; Neighbours and Others are then no such means.
	NeighboursWithoutReaction *float64 `json:"neighbours_without_reaction,omitempty"`
	OthersWithoutReaction     *float64 `json:"others_without_reaction,omitempty"`

	// Asymptote is what equal gradients in all steps lose under secure summation with a symmetric W in the long run:
	// AsymptoteSquared over T. It is no bound: gradients of changing signs can lose more.
	Asymptote *float64 `json:"asymptote,omitempty"`
}

// symmetricWithin is by how much the entries of a gossip matrix may differ from its transpose's.
const symmetricWithin = 1e-12

// Growth computes what an attacker learns in these steps, with a record in each of them (Koskela & Kulkarni, Figure
// 1); the schema of s is not looked at. The options are Assess's, but that Refine is of every victim. Errors: Assess's, and
// ErrUnclear.
func Growth(ctx context.Context, s Scenario, steps int, o AssessOptions) (GrowthRow, error) {
	schema, err := participation.NewCyclic(steps, steps, 1)
	if err != nil {
		return GrowthRow{}, err
	}
	s.Schema, o.Local, o.everyPair = schema, 0, true
	row := GrowthRow{Steps: steps}
	r, err := Assess(ctx, s, o)
	if err == nil && r.Unclear {
		err = ErrUnclear
	}
	if err != nil {
		return row, err
	}
	means := func(squared func(p Pair) *float64) (near, far *float64) {
		all := map[bool]*mean{true: {}, false: {}}
		for _, p := range r.Pairs {
			if hops := p.hops(); hops > 0 {
				all[hops == 1].add(*cmp.Or(squared(p), new(math.Inf(1))) / float64(steps))
			}
		}
		return all[true].value(), all[false].value()
	}
	row.Neighbours, row.Others = means(func(p Pair) *float64 { return p.SensSquared })
	reacting := !s.Attacker.Trust.Public() && o.Reaction.Kind != FixedInputs
	if reacting {
		row.NeighboursWithoutReaction, row.OthersWithoutReaction = means(func(p Pair) *float64 { return p.WithoutReaction })
	}
	if r.Drawn != nil {
		row.NeighboursDrawn, row.OthersDrawn = means(func(p Pair) *float64 { return p.DrawnSensSquared })
	}
	if r.Local > 0 {
		row.Local = new(r.Local / float64(steps))
	}
	attackers, n := len(s.Attacker.Nodes), s.nodes()
	if s.Attacker.SecureSummation && !reacting && s.Algorithm.training == nil && s.Algorithm.levels == nil && attackers < n &&
		s.Gossip.Symmetric(symmetricWithin) {
		row.Asymptote = new(AsymptoteSquared(attackers, n, steps, s.Attacker.ForgetOwnNoise) / float64(steps))
	}
	return row, nil
}

// mean is the mean of the numbers that were added.
type mean struct {
	sum   float64
	count int
}

func (m *mean) add(v float64) { m.sum, m.count = m.sum+v, m.count+1 }

// value returns nil if there are no numbers, or if one is infinite.
func (m *mean) value() *float64 {
	v := m.sum / float64(m.count)
	if m.count == 0 || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

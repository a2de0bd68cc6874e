package threat

import (
	"context"
	"math"
	"slices"

	"mafalda/internal/parallel"
	"mafalda/participation"
)

// GrowthRow is what one attacker learns in T steps, as squared sensitivity a step. Absent numbers do not apply, or are
// infinite.
type GrowthRow struct {
	Steps      int      `json:"steps"`                // T
	Neighbours *float64 `json:"neighbours,omitempty"` // mean over victims one hop away
	Others     *float64 `json:"others,omitempty"`     // mean over all others

	Local *float64 `json:"ldp_sens_squared,omitempty"` // of local DP: what holds where Reaction.HoldsFor does not

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

// Growth computes what an attacker learns in so many steps, with a record in each of them (Koskela & Kulkarni, Figure
// 1); the schema of s is not looked at. Of the options Measure, Reaction and Refine count; Refine is of every victim.
// Errors: Account's, ErrUnclear among them, and the cause of the context, soon after it has ended.
func Growth(ctx context.Context, s Scenario, steps int, o AssessOptions) (GrowthRow, error) {
	schema, err := participation.NewCyclic(steps, steps, 1)
	if err != nil {
		return GrowthRow{}, err
	}
	s.Schema = schema
	return parallel.Abandonable(ctx, func(ctx context.Context) (GrowthRow, error) { return s.growth(ctx, o) })
}

func (s Scenario) growth(ctx context.Context, o AssessOptions) (GrowthRow, error) {
	row := GrowthRow{Steps: s.steps()}
	local, err := s.Algorithm.Local(s.Schema)
	if err != nil {
		return row, err
	}
	squared := make([]float64, s.nodes())
	err = Account(ctx, s, func(e Exposure) (err error) {
		squared[e.Victim], err = o.Measure.Squared(e, s.Schema, local)
		return err
	})
	if err != nil {
		return row, err
	}
	row.Neighbours, row.Others = s.means(squared)
	if drawn := s.Algorithm.Training().Drawn(); !s.Attacker.Trust.Public() && (drawn || o.Reaction.Kind != FixedInputs) {
		h, err := s.hidden(ctx, local)
		if err != nil {
			return row, err
		}
		if o.Reaction.Kind != FixedInputs {
			row.NeighboursWithoutReaction, row.OthersWithoutReaction = row.Neighbours, row.Others
			if row.Neighbours, row.Others, err = h.growth(ctx, o); err != nil {
				return row, err
			}
		}
		if drawn {
			row.NeighboursDrawn, row.OthersDrawn = row.Neighbours, row.Others
			row.Neighbours, row.Others = s.means(h.always)
		}
	}
	if !math.IsInf(local, 1) {
		local /= float64(row.Steps)
		row.Local = &local
	}
	attackers, n := len(s.Attacker.Nodes), s.nodes()
	if s.Attacker.SecureSummation && o.Reaction.Kind == FixedInputs && s.Algorithm.training == nil &&
		s.Algorithm.levels == nil && attackers < n &&
		s.Gossip.Symmetric(symmetricWithin) {
		row.Asymptote = new(AsymptoteSquared(attackers, n, row.Steps, s.Attacker.ForgetOwnNoise) / float64(row.Steps))
	}
	return row, nil
}

// growth returns the means of what is proven of nodes that may react.
func (h *hidden) growth(ctx context.Context, o AssessOptions) (near, far *float64, err error) {
	squared, _, err := h.all(ctx, o.Reaction)
	if err != nil {
		return nil, nil, err
	}
	var all victims
	refine := o.Refine && h.system != nil
	if refine {
		answers, err := o.Reaction.in(h.system)
		if err != nil {
			return nil, nil, err
		}
		if all, err = h.victims(answers); err != nil {
			return nil, nil, err
		}
	}
	for v, x := range squared {
		if refine && x > 0 && !slices.Contains(h.scenario.Attacker.Nodes, v) {
			r, err := all.best(ctx, v)
			if err != nil {
				return nil, nil, err
			}
			squared[v] = math.Min(x, r.SensSquared)
		}
	}
	near, far = h.scenario.means(squared)
	return near, far, nil
}

// means returns the means a step over the neighbours of attackers and over all others.
func (s Scenario) means(squared []float64) (near, far *float64) {
	hops, means := s.hops(), map[bool]*mean{true: {}, false: {}}
	for v, x := range squared {
		if !slices.Contains(s.Attacker.Nodes, v) {
			means[hops[v] == 1].add(x / float64(s.steps()))
		}
	}
	return means[true].value(), means[false].value()
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

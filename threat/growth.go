package threat

import (
	"context"
	"math"

	"mafalda/internal/parallel"
	"mafalda/participation"
)

// GrowthRow is what one attacker learns in T steps, as squared sensitivity a step. Absent numbers do not apply, or are
// infinite.
type GrowthRow struct {
	Steps      int      `json:"steps"`                // T
	Neighbours *float64 `json:"neighbours,omitempty"` // mean over victims one hop away
	Others     *float64 `json:"others,omitempty"`     // mean over all others
	Asymptote  *float64 `json:"asymptote,omitempty"`  // of secure summation with a symmetric W: AsymptoteSquared over T

	Local *float64 `json:"ldp_sens_squared,omitempty"` // of local DP: what holds where Trust.HoldsFor does not
}

// symmetricWithin is up to where the entries of a gossip matrix may differ from those of its transpose.
const symmetricWithin = 1e-12

// Growth computes what an attacker learns in so many steps, with a record in each of them (Koskela & Kulkarni, Figure
// 1); the schema of s is not looked at. Errors: those of Account, ErrUnclear among them, and the cause of the context,
// soon after it has ended.
func Growth(ctx context.Context, s Scenario, steps int, m Measure) (GrowthRow, error) {
	schema, err := participation.NewCyclic(steps, steps, 1)
	if err != nil {
		return GrowthRow{}, err
	}
	s.Schema = schema
	return parallel.Abandonable(ctx, func(ctx context.Context) (GrowthRow, error) { return s.growth(ctx, m) })
}

func (s Scenario) growth(ctx context.Context, m Measure) (GrowthRow, error) {
	row := GrowthRow{Steps: s.steps()}
	local, err := s.Algorithm.Local(s.Schema)
	if err != nil {
		return row, err
	}
	hops := s.hops()
	var neighbours, others mean
	err = Account(ctx, s, func(e Exposure) error {
		squared, err := m.Squared(e, s.Schema, local)
		if hops[e.Victim] == 1 {
			neighbours.add(squared / float64(row.Steps))
		} else {
			others.add(squared / float64(row.Steps))
		}
		return err
	})
	if err != nil {
		return row, err
	}
	row.Neighbours, row.Others = neighbours.value(), others.value()
	if !math.IsInf(local, 1) {
		local /= float64(row.Steps)
		row.Local = &local
	}
	attackers, n := len(s.Attacker.Nodes), s.nodes()
	if s.Attacker.SecureSummation && s.Algorithm.training == nil && attackers < n &&
		s.Gossip.Symmetric(symmetricWithin) {
		limit := AsymptoteSquared(attackers, n, row.Steps, s.Attacker.ForgetOwnNoise) / float64(row.Steps)
		row.Asymptote = &limit
	}
	return row, nil
}

// mean is that of the numbers that were added.
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

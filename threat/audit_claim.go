package threat

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/rounding"
	"mafalda/participation"
	"mafalda/strategy"
)

// use makes nodes use a C⁻¹, nil: the algorithm's own, as its export has it, which must be the inverse of its C.
func (p *protocol) use(noising mat.Matrix) error {
	if of := p.algorithm.origin; noising == nil && of != nil && of.inverse != nil {
		noising = of.inverse
		if r, c := noising.Dims(); r == p.steps && c == r {
			if err := strategy.CheckInverse(strategy.LowerOf(of.strategies[0]), noising); err != nil {
				return &misfit{fmt.Sprintf("%s: %v", of.dir, err)}
			}
		}
	}
	if noising == nil {
		return nil
	}
	if r, c := noising.Dims(); r != p.steps || c != r {
		return fmt.Errorf("%w: C⁻¹ is %d×%d, not of %d steps", ErrStrategy, r, c, p.steps)
	}
	p.noising = func(int) mat.Matrix { return noising }
	return nil
}

// claim returns what Account says of the victim, and μ by Best: of the worst victim, where the attackers are any of
// several coalitions. local is the squared sensitivity of local DP, which the exposure has where the rank of the view
// is unclear.
func (s Scenario) claim(ctx context.Context, victim int, local float64) (Exposure, float64, error) {
	var found *Exposure
	most := 0.0 // with Any, the claim is the same for all
	err := Account(ctx, s, func(e Exposure) error {
		if e.Victim == victim {
			found = &e
		}
		if s.Attacker.Any == nil {
			return nil
		}
		squared, err := Best.Squared(e, s.Schema, local)
		most = math.Max(most, squared)
		return err
	})
	if errors.Is(err, ErrUnclear) {
		m, err := s.Algorithm.LocalMatrix(victim, s.steps())
		return Exposure{Victim: victim, M: m, Infinite: m == nil}, rounding.SqrtUp(local), err
	}
	if err != nil {
		return Exposure{}, 0, err
	}
	if found == nil {
		return Exposure{}, 0, fmt.Errorf("%w: node %d is no victim of this attacker", ErrAudit, victim)
	}
	squared, err := Best.Squared(*found, s.Schema, local)
	if err != nil {
		return Exposure{}, 0, err
	}
	squared, err = s.promised(math.Max(squared, most))
	return *found, rounding.SqrtUp(squared), err
}

// worstChange returns gradients ±1 in the steps of the pattern where they tell most: εᵀMε, ε from the patterns that can
// be listed.
func worstChange(m *mat.SymDense, schema participation.Schema) *mat.VecDense {
	patterns, _ := patternsOf(schema)
	best, most := mat.NewVecDense(schema.Steps(), nil), math.Inf(-1)
	for _, pattern := range patterns {
		change := mat.NewVecDense(schema.Steps(), nil)
		for _, t := range pattern {
			change.SetVec(t, 1)
		}
		for improved := true; improved; { // flip signs one by one
			improved = false
			for _, t := range pattern {
				before := mat.Inner(change, m, change)
				change.SetVec(t, -change.AtVec(t))
				if mat.Inner(change, m, change) > before*(1+1e-12) {
					improved = true
				} else {
					change.SetVec(t, -change.AtVec(t))
				}
			}
		}
		if value := mat.Inner(change, m, change); value > most {
			best, most = change, value
		}
	}
	return best
}

package factorize

import (
	"context"

	"mafalda/participation"
	"mafalda/strategy"
)

// Banded is the class of strategies of w bands with general entries. Bandwidth is w; 0 means 2b, or T if that is less,
// and b under min-sep, where more cost less error and take longer to find.
type Banded = classOf[bandedStrategies]

type bandedStrategies struct{}

func (bandedStrategies) traits() Traits {
	return Traits{
		Name:      strategy.BandedClass,
		About:     "w bands, w-1 rows kept (default 2b; b under min-sep, where it is the default)",
		Bandwidth: defaultBands,
		Kinds:     []Kind{MeanError},
		Certified: true,
	}
}

// defaultBands returns 2b, or b under min-sep. Patterns of people in several batches have steps next to each other, but
// what pays are the bands of the cycle.
func defaultBands(s participation.Schema) int {
	if minSep(s) {
		return s.Separation()
	}
	b := s.Separation()
	if people, are := s.(*participation.People); are {
		b = people.Cycle().Separation()
	}
	return min(2*b, s.Steps())
}

// optimize returns the strategy of least loss among those with w bands, with ClassBound as certificate. It is Dense
// with one more condition, X[s,t] = 0 for |s-t| ≥ w, whose multipliers are free in the dual: Λ may be anything outside
// the band, but must then be positive semidefinite as a whole. The mask stays lossless by the same argument. Where
// patterns overlap, ClassBound is the bound for the schema's Relaxation. It fails as Dense does, and for a bandwidth
// outside 1..T.
func (bandedStrategies) optimize(
	ctx context.Context, o Objective, schema participation.Schema, opts Options,
	p Parameters,
) (*Result, error) {
	r, err := optimizeMasked(ctx, o.gram, newMask(schema, p.Bandwidth), opts)
	if err != nil {
		return nil, err
	}
	r.LowerBound, r.ClassBound = 0, r.LowerBound
	r.Strategy, err = strategy.NewBanded(strategy.LowerOf(r.Strategy), p.Bandwidth)
	return r, err
}

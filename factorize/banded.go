package factorize

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/strategy"
)

// Banded is the class of strategies of w bands with general entries. Bandwidth is w; 0 means 2b, or T if that is less,
// and b under min-sep, where more cost less error and take longer to find.
type Banded Parameters

var _ = register(Banded{})

// Name returns "banded".
func (Banded) Name() string { return strategy.BandedClass }

// Traits says that this class has bands, and a certificate for them.
func (Banded) Traits() Traits {
	return Traits{
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

// With returns the class of another bandwidth.
func (c Banded) With(p Parameters) (Class, error) { return Banded(p), refuse(c, p) }

// Parameters lists the parameters of banded strategies.
func (c Banded) Parameters() Parameters { return Parameters(c) }

// Optimize returns the strategy of least loss among those with w bands, with ClassBound as certificate. It is Dense
// with one more condition, X[s,t] = 0 for |s-t| ≥ w, whose multipliers are free in the dual: Λ may be anything outside
// the band, but must then be positive semidefinite as a whole. The mask stays lossless by the same argument. Where
// patterns overlap, ClassBound is the bound for the schema's Relaxation. It fails as Dense does, and for a bandwidth
// outside 1..T.
func (c Banded) Optimize(
	ctx context.Context, o Objective, schema participation.Schema, opts Options,
) (*Result, error) {
	bands, err := bandwidth(c, o, schema, opts)
	if err != nil {
		return nil, err
	}
	r, err := optimizeMasked(ctx, o.gram, newMask(schema, bands), opts)
	if err != nil {
		return nil, err
	}
	r.LowerBound, r.ClassBound = 0, r.LowerBound
	var lower mat.TriDense
	r.Strategy.StrategyTo(&lower)
	if r.Strategy, err = strategy.NewBanded(&lower, bands); err != nil {
		return nil, err
	}
	return r, nil
}

// bandwidth returns the one of a class, or its default for 0. It fails as accepts does, and if that is not from 1 to T.
func bandwidth(c Class, o Objective, schema participation.Schema, opts Options) (int, error) {
	if err := accepts(c, o, schema, opts); err != nil {
		return 0, err
	}
	asked := c.Parameters().Bandwidth
	if asked == 0 {
		asked = c.Traits().Bandwidth(schema)
	}
	if asked < 1 || asked > schema.Steps() {
		return 0, fault.New("Bandwidth", asked, "must be from 1 to T = %d", schema.Steps())
	}
	return asked, nil
}

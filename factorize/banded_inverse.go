package factorize

import (
	"context"

	"mafalda/participation"
	"mafalda/strategy"
)

// BandedInverse is the class of Toeplitz strategies whose noising matrix C⁻¹ has few bands: Bandwidth is the number of
// its coefficients w, 0 means b.
type BandedInverse Parameters

var _ = register(BandedInverse{})

// Name returns "banded-inverse".
func (BandedInverse) Name() string { return strategy.BandedInverseClass }

// Traits says that this class has coefficients.
func (BandedInverse) Traits() Traits {
	return Traits{
		About:     "C⁻¹ of w coefficients, w-1 rows kept (default b)",
		Bandwidth: participation.Schema.Separation,
		Kinds:     []Kind{MeanError, ManySteps},
	}
}

// With returns the class of another bandwidth.
func (c BandedInverse) With(p Parameters) (Class, error) { return BandedInverse(p), refuse(c, p) }

// Parameters lists the parameters of banded inverses.
func (c BandedInverse) Parameters() Parameters { return Parameters(c) }

// Optimize minimizes the loss from several starts: among them strategy.BandedInverseSquareRoot. There is no
// certificate; for Long, and for errors, see Toeplitz.
func (c BandedInverse) Optimize(
	ctx context.Context, o Objective, schema participation.Schema, opts Options,
) (*Result, error) {
	bands, err := bandwidth(c, o, schema, opts)
	if err != nil {
		return nil, err
	}
	return optimizeSeries(ctx, o, schema, opts, freeSeries{bands: bands, inverse: true}, false)
}

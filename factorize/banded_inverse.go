package factorize

import (
	"context"

	"mafalda/participation"
	"mafalda/strategy"
)

// BandedInverse is the class of Toeplitz strategies whose noising matrix C⁻¹ has few bands: Bandwidth is the number of
// its coefficients w, 0 means b.
type BandedInverse = classOf[bandedInverses]

type bandedInverses struct{}

func (bandedInverses) traits() Traits {
	return Traits{
		Name:      strategy.BandedInverseClass,
		About:     "C⁻¹ of w coefficients, w-1 rows kept (default b)",
		Bandwidth: participation.Schema.Separation,
		Kinds:     []Kind{MeanError, ManySteps},
	}
}

// optimize minimizes the loss from several starts: among them strategy.BandedInverseSquareRoot. There is no
// certificate; for Long, and for errors, see Toeplitz.
func (bandedInverses) optimize(
	ctx context.Context, o Objective, schema participation.Schema, opts Options,
	p Parameters,
) (*Result, error) {
	return optimizeSeries(ctx, o, schema, opts, freeSeries{bands: p.Bandwidth, inverse: true}, false)
}

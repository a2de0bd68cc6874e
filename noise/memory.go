package noise

import (
	"errors"
	"fmt"

	"mafalda/participation"
	"mafalda/strategy"
)

// New returns the noise of one node for a strategy in memory, for a model of dim parameters: rows of C⁻¹Z, where Z has
// the standard deviation Options.NoiseStd, contribution/μ. The noise is μ-GDP for records that take part under the
// schema, for sens(C) ≤ 1. It fails
//   - if the sensitivity of c under the schema, computed again, is above 1 (strategy.Normalize scales c);
//   - for a dense c whose computed inverse is another matrix;
//   - for a noise level or a grid that is missing or out of range;
//   - for an Options.Limit, which takes the level of an export.
//
// The stream has no state on disk. A node that may crash and go on needs an export and OpenDurable.
func New(c strategy.Strategy, schema participation.Schema, node string, dim int, opts Options) (*Stream, error) {
	if dim < 1 {
		return nil, fmt.Errorf("noise for %d parameters", dim)
	}
	if c.Steps() != schema.Steps() {
		return nil, fmt.Errorf("strategy of %d steps under a schema of %d", c.Steps(), schema.Steps())
	}
	sens, err := strategy.Sensitivity(c, schema)
	if err != nil {
		return nil, err
	}
	if !(sens.Squared <= 1+1e-12) {
		return nil, fmt.Errorf("sens² of the strategy is %v: it must be at most 1 for noise of contribution/μ", sens.Squared)
	}
	if opts.Limit != nil {
		return nil, fmt.Errorf("%w: a strategy in memory has no privacy level to limit", ErrOdometer)
	}
	if opts.NoiseStd == 0 {
		return nil, errors.New("the standard deviation of the noise is missing: it is contribution/μ")
	}
	if err := opts.check(); err != nil {
		return nil, err
	}
	return newStream(c, node, dim, opts)
}

package baselines

import (
	"context"

	"mafalda/factorize"
	"mafalda/factorize/spacetime"
	"mafalda/strategy"
)

// Shared measures noise that nodes share with two variances alone, the best two: DECOR, and DECORInTime with the
// strategy c. It fails if one cannot be computed, and when the context ends first.
func Shared(ctx context.Context, p spacetime.Problem, c strategy.Strategy) ([]Measured, error) {
	var all []Measured
	for _, b := range []struct {
		name string
		c    strategy.Strategy
	}{{DECOR, strategy.Identity(p.Schema.Steps())}, {DECORInTime, c}} {
		sens, err := strategy.Sensitivity(b.c, p.Schema)
		if err != nil {
			return nil, err
		}
		r, err := p.Constant(ctx, b.c)
		if err != nil {
			return nil, err
		}
		all = append(all, Measured{Name: b.name, Quality: factorize.Quality{Sensitivity: sens,
			SquaredError: r.Loss, Loss: sens.Squared * r.Loss}})
	}
	return all, nil
}

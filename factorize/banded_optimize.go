package factorize

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"mafalda/participation"
	"mafalda/strategy"
)

// OptimizeBanded returns the strategy of least loss among those with w bands, with a certificate for this class: Result's
// LowerBound is one for banded strategies only. It is Optimize with one more condition, X[s,t] = 0 for |s-t| ≥ w, whose
// multipliers are free in the dual: Λ may be anything outside the band, but must then be positive semidefinite as a whole.
// The mask stays lossless by the same argument. Where patterns overlap, LowerBound is BandedBound. The error cases are
// Optimize's, and a bandwidth outside 1..T.
func OptimizeBanded(ctx context.Context, h *mat.SymDense, schema participation.Schema, bands int, opts Options) (*Result, error) {
	if err := strategy.CheckBandwidth(bands, schema.Steps()); err != nil {
		return nil, err
	}
	r, err := optimizeMasked(ctx, h, newMask(schema, bands), opts)
	if err != nil {
		return nil, err
	}
	var c mat.TriDense
	r.Strategy.StrategyTo(&c)
	if r.Strategy, err = strategy.NewBanded(&c, bands); err != nil {
		return nil, err
	}
	return r, nil
}

// BandedBound returns a number that the loss of no strategy with w bands can be below, under any schema: the certificate of
// OptimizeBanded for the schema's Relaxation, whose patterns are fewer. The error cases are OptimizeBanded's.
func BandedBound(ctx context.Context, h *mat.SymDense, schema participation.Schema, bands int, opts Options) (float64, error) {
	if err := strategy.CheckBandwidth(bands, schema.Steps()); err != nil {
		return 0, err
	}
	return overlapBound(ctx, h, newMask(schema, bands), opts)
}

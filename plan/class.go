package plan

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/participation"
	"mafalda/strategy"
)

// Parameters are those that classes may have.
type Parameters struct {
	Bandwidth    int
	Buffers      int
	ScaleColumns bool
}

// StrategyClass is a class that can be asked for by name.
type StrategyClass struct {
	Name, About string
	Bandwidth   func(s participation.Schema) int                                                                                        // default, nil if the class has none
	Long        func(ctx context.Context, r factorize.Responses, s participation.Schema, p Parameters) (*factorize.SeriesResult, error) // for many steps, or nil
	Optimize    func(ctx context.Context, h *mat.SymDense, s participation.Schema, p Parameters, opts factorize.Options) (*factorize.SeriesResult, *factorize.Result, error)
}

func StrategyClasses() []StrategyClass {
	separation := func(s participation.Schema) int { return s.Separation() }
	bands := func(s participation.Schema) int {
		if MinSep(s) {
			return s.Separation() // more cost less error, and take longer to find
		}
		return min(2*s.Separation(), s.Steps())
	}
	series := func(r *factorize.SeriesResult, err error) (*factorize.SeriesResult, *factorize.Result, error) {
		return r, nil, err
	}
	return []StrategyClass{
		{"dense", "the optimum among all, T rows of noise kept", nil, nil,
			func(ctx context.Context, h *mat.SymDense, s participation.Schema, _ Parameters, opts factorize.Options) (*factorize.SeriesResult, *factorize.Result, error) {
				r, err := factorize.Optimize(ctx, h, s, opts)
				return nil, r, err
			}},
		{"banded", "w bands, w-1 rows kept (default 2b; b under min-sep, where it is the default)", bands, nil,
			func(ctx context.Context, h *mat.SymDense, s participation.Schema, p Parameters, opts factorize.Options) (*factorize.SeriesResult, *factorize.Result, error) {
				r, err := factorize.OptimizeBanded(ctx, h, s, p.Bandwidth, opts)
				return nil, r, err
			}},
		{"toeplitz", "w coefficients, w-1 rows kept (default b)", separation,
			func(ctx context.Context, r factorize.Responses, s participation.Schema, p Parameters) (*factorize.SeriesResult, error) {
				return factorize.OptimizeLongToeplitz(ctx, r, s, p.Bandwidth)
			},
			func(ctx context.Context, h *mat.SymDense, s participation.Schema, p Parameters, _ factorize.Options) (*factorize.SeriesResult, *factorize.Result, error) {
				return series(factorize.OptimizeToeplitz(ctx, h, s, factorize.ToeplitzOptions{Bandwidth: p.Bandwidth, ScaleColumns: p.ScaleColumns}))
			}},
		{"blt", "a rational function, d buffers kept (default 4)", nil,
			func(ctx context.Context, r factorize.Responses, s participation.Schema, p Parameters) (*factorize.SeriesResult, error) {
				return factorize.OptimizeLongBLT(ctx, r, s, p.Buffers)
			},
			func(ctx context.Context, h *mat.SymDense, s participation.Schema, p Parameters, _ factorize.Options) (*factorize.SeriesResult, *factorize.Result, error) {
				return series(factorize.OptimizeBLT(ctx, h, s, p.Buffers))
			}},
		{"banded-inverse", "C⁻¹ of w coefficients, w-1 rows kept (default b)", separation,
			func(ctx context.Context, r factorize.Responses, s participation.Schema, p Parameters) (*factorize.SeriesResult, error) {
				return factorize.OptimizeLongBandedInverse(ctx, r, s, p.Bandwidth)
			},
			func(ctx context.Context, h *mat.SymDense, s participation.Schema, p Parameters, _ factorize.Options) (*factorize.SeriesResult, *factorize.Result, error) {
				return series(factorize.OptimizeBandedInverse(ctx, h, s, p.Bandwidth))
			}},
	}
}

func MinSep(s participation.Schema) bool {
	_, ok := s.(participation.MinSep)
	return ok
}

// Structured is the optimum of a class other than dense.
type Structured struct {
	Strategy   strategy.Strategy
	Quality    factorize.Quality
	Iterations int
	Search     *factorize.Result // with a certificate within what was searched, or nil
	Bound      float64           // no strategy of this class and bandwidth has a smaller loss; 0: none is known but the one for all
}

// optimize runs the class's optimizer.
func (c StrategyClass) Run(ctx context.Context, h *mat.SymDense, s participation.Schema, p Parameters, opts factorize.Options) (*Structured, error) {
	series, certified, err := c.Optimize(ctx, h, s, p, opts)
	if err != nil {
		return nil, fmt.Errorf("optimizing the %s strategy: %w", c.Name, err)
	}
	if certified == nil {
		return &Structured{Strategy: series.Strategy, Quality: series.Quality, Iterations: series.Iterations}, nil
	}
	r := &Structured{Strategy: certified.Strategy, Quality: certified.Quality, Iterations: certified.Iterations, Search: certified}
	if c.Name == "banded" {
		r.Bound = certified.LowerBound
	}
	return r, nil
}

// IsLongExport reports whether nothing of size T×T belongs to the export.
func IsLongExport(e *export.Export) bool {
	m := e.Manifest
	if m.Steps <= factorize.LongSteps || e.C != nil || m.PerNode != nil {
		return false
	}
	for _, c := range StrategyClasses() {
		if c.Name == m.Strategy.Class {
			return c.Long != nil && m.Strategy.Columns == nil
		}
	}
	return false
}

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
	"mafalda/internal/cli"
	"mafalda/participation"
	"mafalda/strategy"
)

// strategyFlags say which class of strategies to optimize over.
type strategyFlags struct {
	class        string
	bandwidth    int
	buffers      int
	scaleColumns bool
}

// strategyClass is a class that can be asked for by name.
type strategyClass struct {
	name, about string
	bandwidth   func(s participation.Schema) int                                                                                            // default, nil if the class has none
	long        func(ctx context.Context, r factorize.Responses, s participation.Schema, f *strategyFlags) (*factorize.SeriesResult, error) // for many steps, or nil
	optimize    func(ctx context.Context, h *mat.SymDense, s participation.Schema, f *strategyFlags, opts factorize.Options) (*factorize.SeriesResult, *factorize.Result, error)
}

func strategyClasses() []strategyClass {
	separation := func(s participation.Schema) int { return s.Separation() }
	bands := func(s participation.Schema) int {
		if minSep(s) {
			return s.Separation() // more cost less error, and take longer to find
		}
		return min(2*s.Separation(), s.Steps())
	}
	series := func(r *factorize.SeriesResult, err error) (*factorize.SeriesResult, *factorize.Result, error) {
		return r, nil, err
	}
	return []strategyClass{
		{"dense", "the optimum among all, T rows of noise kept", nil, nil,
			func(ctx context.Context, h *mat.SymDense, s participation.Schema, _ *strategyFlags, opts factorize.Options) (*factorize.SeriesResult, *factorize.Result, error) {
				r, err := factorize.Optimize(ctx, h, s, opts)
				return nil, r, err
			}},
		{"banded", "w bands, w-1 rows kept (default 2b; b under min-sep, where it is the default)", bands, nil,
			func(ctx context.Context, h *mat.SymDense, s participation.Schema, f *strategyFlags, opts factorize.Options) (*factorize.SeriesResult, *factorize.Result, error) {
				r, err := factorize.OptimizeBanded(ctx, h, s, f.bandwidth, opts)
				return nil, r, err
			}},
		{"toeplitz", "w coefficients, w-1 rows kept (default b)", separation,
			func(ctx context.Context, r factorize.Responses, s participation.Schema, f *strategyFlags) (*factorize.SeriesResult, error) {
				return factorize.OptimizeLongToeplitz(ctx, r, s, f.bandwidth)
			},
			func(ctx context.Context, h *mat.SymDense, s participation.Schema, f *strategyFlags, _ factorize.Options) (*factorize.SeriesResult, *factorize.Result, error) {
				return series(factorize.OptimizeToeplitz(ctx, h, s, factorize.ToeplitzOptions{Bandwidth: f.bandwidth, ScaleColumns: f.scaleColumns}))
			}},
		{"blt", "a rational function, d buffers kept (default 4)", nil,
			func(ctx context.Context, r factorize.Responses, s participation.Schema, f *strategyFlags) (*factorize.SeriesResult, error) {
				return factorize.OptimizeLongBLT(ctx, r, s, f.buffers)
			},
			func(ctx context.Context, h *mat.SymDense, s participation.Schema, f *strategyFlags, _ factorize.Options) (*factorize.SeriesResult, *factorize.Result, error) {
				return series(factorize.OptimizeBLT(ctx, h, s, f.buffers))
			}},
		{"banded-inverse", "C⁻¹ of w coefficients, w-1 rows kept (default b)", separation,
			func(ctx context.Context, r factorize.Responses, s participation.Schema, f *strategyFlags) (*factorize.SeriesResult, error) {
				return factorize.OptimizeLongBandedInverse(ctx, r, s, f.bandwidth)
			},
			func(ctx context.Context, h *mat.SymDense, s participation.Schema, f *strategyFlags, _ factorize.Options) (*factorize.SeriesResult, *factorize.Result, error) {
				return series(factorize.OptimizeBandedInverse(ctx, h, s, f.bandwidth))
			}},
	}
}

func (f *strategyFlags) bind(cmd *cobra.Command) {
	var names []string
	about := "class of strategies:"
	for _, c := range strategyClasses() {
		names = append(names, c.name)
		about += fmt.Sprintf("\n%s: %s", c.name, c.about)
	}
	cmd.Flags().StringVar(&f.class, "strategy", "dense", about)
	f.buffers = 4
	cmd.Flags().Var((*cli.WholeNumber)(&f.bandwidth), "bandwidth", "bands or coefficients w of the strategy (default: see --strategy)")
	cmd.Flags().Var((*cli.WholeNumber)(&f.buffers), "buffers", "buffers of --strategy blt")
	cmd.Flags().BoolVar(&f.scaleColumns, "scale-columns", false, "fit a scale for every column of --strategy toeplitz")
	cli.CompleteWith(cmd, "strategy", names)
}

func minSep(s participation.Schema) bool {
	_, ok := s.(participation.MinSep)
	return ok
}

// choose returns the class, after checking the flags against it and filling in defaults.
func (f *strategyFlags) choose(cmd *cobra.Command, s participation.Schema) (strategyClass, error) {
	if minSep(s) && !cmd.Flags().Changed("strategy") {
		f.class = "banded"
	}
	var names []string
	for _, c := range strategyClasses() {
		names = append(names, c.name)
		if c.name != f.class {
			continue
		}
		switch given := cmd.Flags().Changed; {
		case given("bandwidth") && c.bandwidth == nil:
			return c, cli.Usagef("--bandwidth is not for --strategy %s", c.name)
		case given("bandwidth") && (f.bandwidth < 1 || f.bandwidth > s.Steps()):
			return c, cli.Usagef("--bandwidth %d: must be from 1 to T = %d", f.bandwidth, s.Steps())
		case given("buffers") && c.name != "blt":
			return c, cli.Usagef("--buffers is for --strategy blt")
		case c.name == "blt" && (f.buffers < 1 || f.buffers >= max(s.Steps(), 2)):
			return c, cli.Usagef("--buffers %d: must be at least 1 and less than T = %d", f.buffers, s.Steps())
		case f.scaleColumns && c.name != "toeplitz":
			return c, cli.Usagef("--scale-columns is for --strategy toeplitz")
		case f.scaleColumns && !participation.IsPartition(s):
			return c, cli.Usagef("--scale-columns is not for %s participation, whose patterns overlap", s.Name())
		}
		if f.bandwidth == 0 && c.bandwidth != nil {
			f.bandwidth = c.bandwidth(s)
		}
		return c, nil
	}
	return strategyClass{}, cli.Usagef("unknown strategy %q: choose %s", f.class, strings.Join(names, ", "))
}

// structured is the optimum of a class other than dense.
type structured struct {
	strategy   strategy.Strategy
	quality    factorize.Quality
	iterations int
	search     *factorize.Result // with a certificate within what was searched, or nil
	bound      float64           // no strategy of this class and bandwidth has a smaller loss; 0: none is known but the one for all
}

// optimize runs the class's optimizer.
func (c strategyClass) run(ctx context.Context, h *mat.SymDense, s participation.Schema, f *strategyFlags, opts factorize.Options) (*structured, error) {
	series, certified, err := c.optimize(ctx, h, s, f, opts)
	if err != nil {
		return nil, fmt.Errorf("optimizing the %s strategy: %w", c.name, err)
	}
	if certified == nil {
		return &structured{strategy: series.Strategy, quality: series.Quality, iterations: series.Iterations}, nil
	}
	r := &structured{strategy: certified.Strategy, quality: certified.Quality, iterations: certified.Iterations, search: certified}
	if c.name == "banded" {
		r.bound = certified.LowerBound
	}
	return r, nil
}

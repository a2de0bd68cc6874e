package plan

import (
	"context"
	"fmt"
	"slices"

	"mafalda/factorize"
	"mafalda/internal/fault"
	"mafalda/internal/rounding"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// ratioGap is how close to the least worst ratio the search for it ends.
const ratioGap = 1e-4

// checkUnknown rejects curvatures that nobody knows where there is more than one strategy, or a secret draw.
func (o Options) checkUnknown(p Problem) error {
	if p.Curvature.Unknown() && (!o.Class.Traits().Certified || o.split() || o.Budget != nil ||
		o.Sampling != participation.InTurn || p.long(o) || !participation.IsPartition(p.Schema)) {
		return fault.New("Risk", p.Curvature.Risk, "is for one strategy of [Class] dense or banded, at most %d steps, batches in "+
			"turn, and patterns that do not overlap", strategy.LongSteps)
	}
	return nil
}

// unknown returns the family of the second derivatives of a problem, of which nobody knows which one it is: for each of
// them alone the Gram matrix, and what no strategy of the class has less loss than.
func (s *job) unknown(ctx context.Context) (factorize.Family, error) {
	var f factorize.Family
	on := s.source("one curvature after the other")
	for _, x := range s.Problem.Curvature.X {
		on.Curvature = workload.Curvature{{X: x, Weight: 1}}
		k, _, err := on.Kernel(ctx, s.schema().Steps())
		if err != nil {
			return f, err
		}
		on.Known = k
		h := k.Gram()
		r, err := s.Options.Class.Optimize(ctx, factorize.Mean(h), s.schema(), factorize.Options{Gap: s.Options.Tolerance})
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return f, fmt.Errorf("optimizing for the curvature %v: %w", x, err)
		}
		f.Grams, f.Optima = append(f.Grams, h), append(f.Optima, r.Bound())
	}
	return f, nil
}

// hedge replaces a curvature of which nobody knows which one it is by the least favourable spectrum: the strategy that is
// best for it has the least worst ratio.
func (s *job) hedge(ctx context.Context) error {
	if !s.Problem.Curvature.Unknown() {
		return nil
	}
	family, err := s.unknown(ctx)
	if err != nil {
		return err
	}
	s.show("least worst ratio", 0)
	r, err := factorize.OptimizeFamily(ctx, s.Options.Class, family, s.schema(), factorize.Options{Gap: ratioGap})
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	spectrum := *s.Problem.Curvature
	spectrum.Directions = slices.Clone(r.Weights)
	for i, o := range family.Optima {
		spectrum.Directions[i] *= slices.Max(family.Optima) / o
	}
	s.family, s.Problem.Curvature = family, &spectrum
	return nil
}

// setRatios fills in the ratios of the strategy.
func (s *job) setRatios(context.Context) error {
	for i, h := range s.family.Grams {
		q, err := factorize.Evaluate(s.Strategy(), factorize.Mean(h), s.schema())
		if err != nil {
			return err
		}
		s.Problem.Curvature.Ratios = append(s.Problem.Curvature.Ratios, rounding.DivUp(q.Loss, s.family.Optima[i]))
	}
	return nil
}

package plan

import (
	"cmp"
	"context"
	"fmt"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/internal/fault"
	"mafalda/measure"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// longMode computes a strategy of more steps than matrices of T×T have room for: its error follows from how the network
// responds to a single step's noise. There is no dense optimum to compare with, but a lower bound.
type longMode struct{ ordinary }

func (longMode) takes(p Problem, o Options) bool { return p.long(o) }

func (longMode) check(p Problem, o Options) error {
	const many = "more than %d steps: "
	scaled, long := o.Class.Parameters().ScaleColumns, []any{strategy.LongSteps}
	_, comb := o.Class.(factorize.Comb)
	return cmp.Or(
		fault.If(p.Schema.Steps() > export.MaxSteps, "Steps", p.Schema.Steps(), "at most %d", export.MaxSteps),
		fault.If(scaled && !p.Workload.CountsAll(), "ScaleColumns", nil,
			many+"[ScaleColumns] is not for weights of steps", long...),
		fault.If(scaled && !comb, "ScaleColumns", nil, many+"[ScaleColumns] is for [Class] comb", long...),
	)
}

func (longMode) needs(j *job) Resources {
	time := 1e6 * float64(j.schema().Steps())
	if b := j.Options.Budget; b != nil {
		time *= float64(len(longClasses(j.Problem, b.Floats())))
	}
	return j.need(0, 1, time)
}

func (longMode) solve(ctx context.Context, s *job) error {
	responses, sketch, err := s.source("network").Responses(ctx)
	if err != nil {
		return fmt.Errorf("computing the response of the network: %w", err)
	}
	objective := factorize.Long(responses)
	s.many = objective
	if err := s.optimizeLong(ctx); err != nil {
		return err
	}
	if sketch != nil {
		s.estimate = sketch
		if err := measure.JudgeLong(ctx, &s.Gram, sketch, s.OfClass.Strategy); err != nil {
			return err
		}
	}
	if !s.Options.NoBaselines {
		if s.Baselines, err = baselines.Plain(s.schema().Steps(), baselines.MeasureOf(objective, s.schema())); err != nil {
			return err
		}
	}
	s.show("lower bound", 0)
	bound, err := runAbandonable(ctx, s, func(ctx context.Context) (float64, error) {
		return measure.LongBound(ctx, responses, s.schema().(participation.Cyclic))
	})
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("bounding the loss: %w", err)
	}
	if err != nil { // the strategy is as good without
		s.note(true, "there is no lower bound: %v", err)
	}
	s.setQuality(s.OfClass.Quality, bound)
	s.Ending = Ending{Status: optim.Converged}
	return runSteps(ctx, s.setNoise, s.comparePlain)
}

// optimizeLong computes the best strategy of the class, or of the classes that the budget has room for.
func (s *job) optimizeLong(ctx context.Context) error {
	if b := s.Options.Budget; b != nil {
		search := &classSearch{objective: s.many, schema: s.schema(), progress: s.show}
		best, err := search.bestOf(ctx, longClasses(s.Problem, b.Floats()))
		s.OfClass, s.Options.Class, s.Fitting = best.Result, best.Class, search.found
		return err
	}
	class := s.Options.Class
	s.show(class.Name()+" strategy", 0)
	var err error
	if s.OfClass, err = class.Optimize(ctx, s.many, s.schema(), factorize.Options{
		Progress: func(it factorize.Iteration) { s.show(class.Name()+" strategy", s.classFraction(it)) }}); err != nil {
		return fmt.Errorf("optimizing the %s strategy: %w", class.Name(), err)
	}
	return nil
}

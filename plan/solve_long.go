package plan

import (
	"context"
	"fmt"

	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/measure"
)

// long computes a strategy of more steps than matrices of T×T have room for: its error follows from how the network
// responds to a single step's noise. There is no dense optimum to compare with, and no lower bound.
func (s *solver) long(ctx context.Context) error {
	responses, sketch, err := s.source("network").Responses(ctx)
	if err != nil {
		return fmt.Errorf("computing the response of the network: %w", err)
	}
	class := s.Options.Class
	s.show(class.Name()+" strategy", 0)
	objective := factorize.Long(responses)
	s.many = objective
	if s.OfClass, err = class.Optimize(ctx, objective, s.schema(), factorize.Options{
		Progress: func(it factorize.Iteration) { s.show(class.Name()+" strategy", s.classFraction(it)) }}); err != nil {
		return fmt.Errorf("optimizing the %s strategy: %w", class.Name(), err)
	}
	if sketch != nil {
		s.estimate = sketch
		if err := measure.JudgeLong(ctx, &s.Gram, sketch, s.OfClass.Strategy); err != nil {
			return err
		}
	}
	if s.Options.NoBaselines {
		return nil
	}
	s.Baselines, err = baselines.Plain(s.schema().Steps(), baselines.On(objective, s.schema()))
	return err
}

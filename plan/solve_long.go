package plan

import (
	"context"
	"fmt"

	"mafalda/benchmarks"
	"mafalda/factorize"
)

// long computes a strategy of more steps than matrices of T×T have room for: its error follows from how the network
// responds to a single step's noise. There is no dense optimum to compare with, and no lower bound.
func (s *solver) long(ctx context.Context) error {
	responses, sketch, err := ResponsesBy(ctx, &s.Gram, s.Problem.Network, s.Problem.Workload, s.counts("network"))
	if err != nil {
		return fmt.Errorf("computing the response of the network: %w", err)
	}
	class := s.Options.Class
	s.show(class.Name()+" strategy", 0)
	objective := factorize.Long(responses)
	if s.OfClass, err = class.Optimize(ctx, objective, s.schema(), factorize.Options{}); err != nil {
		return fmt.Errorf("optimizing the %s strategy: %w", class.Name(), err)
	}
	if err := JudgeLong(ctx, &s.Gram, sketch, s.OfClass.Strategy); err != nil || s.Options.NoBaselines {
		return err
	}
	s.Baselines, err = benchmarks.Plain(s.schema().Steps(), benchmarks.On(objective, s.schema()))
	return err
}

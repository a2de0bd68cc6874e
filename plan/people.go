package plan

import (
	"context"

	"mafalda/factorize"
	"mafalda/participation"
)

// compareOneBatch fills in the least loss for people whose records are in one batch of the cycle, where they may be in
// several, unless nothing is to be compared: what the other batches cost.
func (s *job) compareOneBatch(ctx context.Context) error {
	people, are := s.schema().(*participation.People)
	if !are || people.Batches() == 1 || s.Options.NoBaselines || ctx.Err() != nil {
		return nil
	}
	s.show("people in one batch", 0)
	r, err := factorize.Dense{}.Optimize(ctx, s.objective(), people.Cycle(), factorize.Options{Gap: s.Options.Tolerance})
	if err == nil && ctx.Err() == nil {
		s.OneBatchLoss = r.Loss
	}
	if isEnd(err) {
		return nil
	}
	return err
}

package verify

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
	"mafalda/participation"
)

// oneBatch checks the least loss for people in one batch, where they may be in several.
func (v *verification) oneBatch(ctx context.Context, h *mat.SymDense) error {
	m := v.export.Manifest
	people, are := v.schema.(*participation.People)
	switch {
	case m.OneBatchLoss == 0 && are && people.Batches() > 1:
		v.skip("one_batch_loss")
		return nil
	case m.OneBatchLoss == 0:
		return nil
	case !are || people.Batches() == 1:
		v.add("one batch", false, "one_batch_loss is for people in several batches")
		return nil
	}
	best, err := factorize.Dense{}.Optimize(ctx, factorize.Mean(h), people.Cycle(), factorize.Options{Gap: v.fineGap()})
	if err != nil {
		return err
	}
	v.again.OneBatchLoss, v.reached["one_batch_loss"] = best.Loss, best.Gap
	v.compare("one batch", fmt.Sprintf("with people in one batch the best strategy has %s, the manifest says %s", textUp(best.Loss),
		textUp(m.OneBatchLoss)))
	return nil
}

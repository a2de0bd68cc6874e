package verify

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// loss checks squared error and loss, and proves the lower bounds anew.
func (v *verification) loss(ctx context.Context, c strategy.Strategy, h *mat.SymDense) error {
	m := v.export.Manifest
	q, err := factorize.Evaluate(c, factorize.Mean(h), v.schema)
	if err != nil {
		return err
	}
	v.lossIs(q)
	v.estimate(h, c)
	if m.Weights != nil {
		v.add("objective", false, "objective_weights are for the objective max; the manifest names none")
	}
	if isDense(m.Strategy) && participation.IsPartition(v.schema) && !m.Binned() {
		return v.denseBound(ctx, c, h)
	}
	best, err := factorize.Dense{}.Optimize(ctx, factorize.Mean(h), participation.Relaxation(v.schema),
		factorize.Options{Gap: v.fineGap()})
	if err != nil {
		return err
	}
	if err := v.overlapBound(ctx, c, h, best); err != nil {
		return err
	}
	switch {
	case !participation.IsPartition(v.schema) && m.Strategy.Ratio != 0:
		v.add("ratio", false, "strategy.ratio is for patterns that do not overlap")
	case !participation.IsPartition(v.schema):
	case m.Strategy.Ratio == 0 || m.Status != optim.Converged.String():
		v.skip("strategy.ratio")
	default:
		v.ratioIs(q.Loss / best.Loss)
	}
	if m.Binned() {
		if m.Strategy.ClassBound != 0 || m.Strategy.ClassGap != nil {
			v.add("class bound", false, "none is proven for strategies without negative entries; the manifest says %v",
				m.Strategy.ClassBound)
		}
		return nil
	}
	return v.classBound(ctx, h)
}

// lossIs compares what was computed with the manifest.
func (v *verification) lossIs(q factorize.Quality) {
	v.again.SquaredError, v.again.Loss = q.SquaredError, q.Loss
	v.compare("loss", fmt.Sprintf("%s, squared error %s, as the manifest says", textUp(q.Loss), textUp(q.SquaredError)))
}

// ratioIs compares how many times the dense optimum's loss the loss is.
func (v *verification) ratioIs(is float64) {
	v.again.Strategy.Ratio = is
	v.compare("ratio", fmt.Sprintf("the loss is %v times that of the dense optimum", v.export.Manifest.Strategy.Ratio))
}

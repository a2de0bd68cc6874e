package verify

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/graph"
	"mafalda/measure"
	"mafalda/participation"
	"mafalda/workload"
)

// baselines measures the strategies of the field again. Those that are optima themselves are known to the root of the
// gap they are optimized to, since their loss on another workload is not stationary in them. The kernel is for
// objectives other than the mean.
func (v *verification) baselines(ctx context.Context, o measure.Objective, h *mat.SymDense, k *workload.Kernel) error {
	m := v.export.Manifest
	names := []string{"dp-d-sgd", "antipgd", "d-mf"}
	mean := factorize.Mean(h)
	objective := mean
	if o != measure.Mean {
		names = append(names, baselines.MeanOptimal)
		objective = o.ForKernel(k)
	}
	cost := baselines.MeasureOf(objective, v.schema)
	var is []baselines.Measured
	if _, ok := m.Baselines["d-mf"]; ok {
		dmf, err := baselines.NewFor(ctx, baselines.DMF, v.spec, v.schema)
		if err != nil {
			return err
		}
		if is, err = baselines.All(dmf, cost); err != nil {
			return err
		}
	} else if len(m.Baselines) > 0 {
		var err error
		if is, err = baselines.Plain(m.Steps, cost); err != nil {
			return err
		}
	}
	if _, ok := m.Baselines[baselines.MeanOptimal]; ok && o != measure.Mean {
		best, err := factorize.Dense{}.Optimize(ctx, mean, v.schema, factorize.Options{})
		if err != nil {
			return err
		}
		q, err := cost(best.Strategy)
		if err != nil {
			return err
		}
		is = append(is, baselines.Measured{Name: baselines.MeanOptimal, Quality: q})
	}
	v.baselinesAre(names, is)
	return nil
}

// baselinesAre compares what was measured with the manifest. Names are those that an export can have.
func (v *verification) baselinesAre(names []string, is []baselines.Measured) {
	says := v.export.Manifest.Baselines
	if len(says) == 0 {
		v.skip("baselines")
		return
	}
	for _, name := range names {
		if _, ok := says[name]; !ok || name == baselines.DMF && !participation.IsPartition(v.schema) {
			v.skip("baselines." + name) // or its further digits
		}
	}
	v.again.Baselines = map[string]export.Baseline{}
	for _, b := range is {
		if _, ok := says[b.Name]; ok {
			v.again.Baselines[b.Name] = export.Baseline{SensSquared: b.Sensitivity.Squared, SquaredError: b.SquaredError, Loss: b.Loss}
		}
	}
	v.compare("baselines", "")
}

// oneBatch checks the least loss for people in one batch, where they may be in several.
func (v *verification) oneBatch(ctx context.Context, h *mat.SymDense) error {
	m := v.export.Manifest
	people, are := v.schema.(*participation.People)
	switch {
	case !are || people.Batches() == 1:
		return nil
	case m.OneBatchLoss == 0:
		v.skip("one_batch_loss")
		return nil
	}
	best, err := v.optimum(ctx, h, people.Cycle(), nil)
	if err == nil {
		v.optimumIs("one batch", "one_batch_loss", &v.again.OneBatchLoss, best)
	}
	return err
}

// oneLevelOn checks the least loss at one level for all nodes, where nodes have their own.
func (v *verification) oneLevelOn(ctx context.Context, n *graph.Network) error {
	m := v.export.Manifest
	if m.Budgets == nil {
		return nil
	}
	k, _, err := v.source(n, nil).Kernel(ctx, m.Steps)
	if err != nil {
		return err
	}
	return v.oneLevel(ctx, k.Gram())
}

// oneLevel is oneLevelOn for a Gram matrix in which every node counts alike.
func (v *verification) oneLevel(ctx context.Context, h *mat.SymDense) error {
	m := v.export.Manifest
	switch {
	case m.Budgets == nil:
		return nil
	case m.OneLevelLoss == 0:
		v.skip("one_level_loss")
		return nil
	case !participation.IsPartition(v.schema): // the one level's loss is measured for partitions only
		return nil
	}
	best, err := v.optimum(ctx, h, v.schema, nil)
	if err == nil {
		v.optimumIs("one level", "one_level_loss", &v.again.OneLevelLoss, best)
	}
	return err
}

// plain checks what the strategies cost, by an objective, that are optimal for the plain workload and for gradients that
// do not react.
func (v *verification) plain(ctx context.Context, n *graph.Network, by func() factorize.Objective) error {
	m, on := v.export.Manifest, v.source(n, v.weights())
	on.Sketch, _ = v.estimated.(*workload.Sketch)
	for _, other := range []struct {
		name, key  string
		says       float64
		again      *float64
		applicable bool
		source     measure.Source
	}{
		{"plain strategy", "plain_strategy_loss", m.PlainStrategyLoss, &v.again.PlainStrategyLoss, !m.IsPlain(), on.Plain()},
		{"uncurved strategy", "uncurved_strategy_loss", m.UncurvedStrategyLoss, &v.again.UncurvedStrategyLoss, m.Curvature != nil, on.Uncurved()},
	} {
		switch {
		case !other.applicable: // where it is there all the same, everyKey says so
			continue
		case other.says == 0 && len(m.Baselines) > 0: // an export that measures those measures this, too
			v.add(other.name, false, "%s is not there, and baselines are", other.key)
			continue
		case other.says == 0:
			v.skip(other.key)
			continue
		}
		is, err := measure.OtherLoss(ctx, m, other.source, by)
		if err != nil {
			return v.computing(other.name, err)
		}
		if v.plainIsCoarse() {
			v.skip(other.key) // its further digits
		}
		*other.again = is
		v.compare(other.name, "")
	}
	return nil
}

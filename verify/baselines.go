package verify

import (
	"context"
	"slices"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/measure"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// baselines measures the strategies of the field again. Those that are optima themselves are known to the root of the
// gap they are optimized to, since their loss on another workload is not stationary in them. Of very many steps there is no D-MF.
func (s *costs) baselines(ctx context.Context) error {
	m, names, cost := s.export.Manifest, baselines.Names(), baselines.MeasureOf(s.objective, s.schema)
	has := func(name string) bool { _, ok := m.Baselines[name]; return ok }
	if s.h == nil {
		names = slices.DeleteFunc(names, func(name string) bool { return name == baselines.DMF })
	}
	if s.o != measure.Mean {
		names = append(names, baselines.MeanOptimal)
	}
	var is []baselines.Measured
	for _, name := range names {
		if !has(name) {
			continue
		}
		c, err := s.baseline(ctx, name)
		if err != nil {
			return err
		}
		q, err := cost(c)
		if err != nil {
			return err
		}
		is = append(is, baselines.Measured{Name: name, Quality: q})
	}
	s.baselinesAre(names, is)
	return nil
}

// baseline returns the strategy of this name.
func (s *costs) baseline(ctx context.Context, name string) (strategy.Strategy, error) {
	if name != baselines.MeanOptimal {
		return baselines.NewFor(ctx, name, s.spec, s.schema)
	}
	best, err := factorize.Dense{}.Optimize(ctx, factorize.Mean(s.h), s.schema, factorize.Options{})
	if err != nil {
		return nil, err
	}
	return best.Strategy, nil
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
func (s *costs) oneBatch(ctx context.Context) error {
	people, are := s.schema.(*participation.People)
	switch {
	case !are || people.Batches() == 1:
		return nil
	case s.export.Manifest.OneBatchLoss == 0:
		s.skip("one_batch_loss")
		return nil
	}
	return s.optimumIs(ctx, s.h, people.Cycle(), "one batch", "one_batch_loss", &s.again.OneBatchLoss)
}

// oneLevel checks the least loss at one level for all nodes, where nodes have their own, which is measured for partitions only.
func (s *costs) oneLevel(ctx context.Context) error {
	m := s.export.Manifest
	switch {
	case m.Budgets == nil:
		return nil
	case m.OneLevelLoss == 0:
		s.skip("one_level_loss")
		return nil
	case !participation.IsPartition(s.schema):
		return nil
	}
	k, _, err := s.source(s.n, nil).Kernel(ctx, m.Steps)
	if err != nil {
		return err
	}
	return s.optimumIs(ctx, k.Gram(), s.schema, "one level", "one_level_loss", &s.again.OneLevelLoss)
}

// plain checks what the strategies cost that are optimal for the plain workload and for gradients that do not react.
func (s *costs) plain(ctx context.Context) error {
	m, on := s.export.Manifest, s.source(s.n, s.weights())
	on.Sketch, _ = s.estimated.(*workload.Sketch)
	for _, other := range []struct {
		name, key  string
		says       float64
		again      *float64
		applicable bool
		source     measure.Source
	}{
		{"plain strategy", "plain_strategy_loss", m.PlainStrategyLoss, &s.again.PlainStrategyLoss, !m.IsPlain(), on.Plain()},
		{"uncurved strategy", "uncurved_strategy_loss", m.UncurvedStrategyLoss, &s.again.UncurvedStrategyLoss, m.Curvature != nil, on.Uncurved()},
	} {
		switch {
		case !other.applicable: // where it is there all the same, everyKey says so
			continue
		case other.says == 0 && len(m.Baselines) > 0: // an export that measures those measures this, too
			s.add(other.name, false, "%s is not there, and baselines are", other.key)
			continue
		case other.says == 0:
			s.skip(other.key)
			continue
		}
		is, err := measure.OtherLoss(ctx, m, other.source, func() factorize.Objective { return s.objective })
		if err != nil {
			return err
		}
		if s.plainIsCoarse() {
			s.skip(other.key) // its further digits
		}
		*other.again = is
		s.compare(other.name, "")
	}
	return nil
}

package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/measure"
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
	cost := baselines.On(objective, v.schema)
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

// baselinesAre compares what was measured with the manifest. Names are those that there can be.
func (v *verification) baselinesAre(names []string, is []baselines.Measured) {
	says := v.export.Manifest.Baselines
	if len(says) == 0 {
		v.skip("baselines")
		return
	}
	possible, measured := map[string]bool{}, map[string]factorize.Quality{}
	for _, name := range names {
		possible[name] = true
		if _, ok := says[name]; !ok {
			v.skip("baselines." + name)
		}
	}
	for _, b := range is {
		measured[b.Name] = b.Quality
	}
	v.again.Baselines = map[string]export.Baseline{}
	for _, name := range slices.Sorted(maps.Keys(says)) {
		q, ok := measured[name]
		if !ok || !possible[name] {
			v.add("baselines", false, "%q is none that is known for this export", name)
			v.again.Baselines[name] = says[name]
			continue
		}
		v.again.Baselines[name] = export.Baseline{SensSquared: q.Sensitivity.Squared, SquaredError: q.SquaredError,
			Loss: q.Loss}
	}
	v.compare("baselines", fmt.Sprintf("%d, measured again", len(says)))
}

package main

import (
	"context"
	"fmt"

	"mafalda/benchmarks"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// Runs of more steps than matrices of T×T have room for: Toeplitz strategies, whose error follows from how the network
// responds to a single step's noise. There is no dense optimum to compare with, and no lower bound.

// isLong reports whether the run is one of those.
func (j *job) isLong() bool {
	return j.schema.Steps() > factorize.LongSteps && j.class.Traits().Has(factorize.ManySteps)
}

// checkLong finds what long runs do not have.
func (f *optimizeFlags) checkLong(j *job) error {
	_, cyclic := j.schema.(participation.Cyclic)
	switch {
	case j.schema.Steps() > export.MaxSteps:
		return cli.Usagef("--T %d: at most %d", j.schema.Steps(), export.MaxSteps)
	case !cyclic:
		return cli.Usagef("more than %d steps: only --schema cyclic and single", factorize.LongSteps)
	case !j.objective.isMean() || f.split.wanted():
		return cli.Usagef("more than %d steps: only --objective mean, and one strategy for all nodes", factorize.LongSteps)
	case f.start.dir != "" || f.start.checkpoint != "":
		return cli.Usagef("more than %d steps: --start and --checkpoint are for the dense optimum", factorize.LongSteps)
	case f.strategy.scaleColumns:
		return cli.Usagef("more than %d steps: no --scale-columns", factorize.LongSteps)
	}
	return nil
}

// responsesBy returns how a network (nil: of the prefix workload) responds, and the sketch that this comes from, if any.
func responsesBy(ctx context.Context, g *export.Gram, n *graph.Network, kind workload.Kind, progress func(done, total int)) (factorize.Responses, *workload.Sketch, error) {
	if n == nil {
		return func(steps int, _ bool) (factorize.Response, error) { return workload.PrefixResponse(steps), nil }, nil, nil
	}
	if g.Method == "exact" {
		pi, _ := n.Gossip.Stationary()
		whole, ok, err := workload.ExactResponse(n.Gossip.Matrix(), pi, kind, 1)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			return nil, nil, fmt.Errorf("an exact response takes a gossip matrix of at most %d nodes in detailed balance",
				workload.MaxSpectralNodes)
		}
		rough, err := whole.Reduced()
		return responsesOf(whole, rough), nil, err
	}
	s, err := sketchBy(ctx, g, n, kind, progress)
	if err != nil {
		return nil, nil, err
	}
	whole, err := s.Response(1)
	if err != nil {
		return nil, nil, err
	}
	rough, err := whole.Reduced()
	return responsesOf(whole, rough), s, err
}

func responsesOf(whole, rough *workload.Response) factorize.Responses {
	return func(steps int, search bool) (factorize.Response, error) {
		if search {
			return rough.For(steps), nil
		}
		return whole.For(steps), nil
	}
}

// judgeLong fills in how far the loss of a strategy may be from what an estimate says.
func judgeLong(ctx context.Context, g *export.Gram, s *workload.Sketch, c strategy.Strategy) error {
	if s == nil {
		return nil
	}
	if err := checkConfidence(g, s); err != nil {
		return err
	}
	r, ok := strategy.InverseSeriesOf(c)
	if !ok {
		return fmt.Errorf("no Toeplitz strategy: %w", factorize.ErrUnsupported)
	}
	standard, truncation, err := s.LossError(ctx, c.Steps(), r)
	if err != nil {
		return err
	}
	both := lossError(g, s.Factor()*standard, truncation)
	g.LossError = &both
	return nil
}

// long optimizes a strategy of many steps.
func (j *job) long(ctx context.Context) (*outcome, error) {
	responses, sketch, err := responsesBy(ctx, j.gram, j.network, j.kind, func(done, total int) { j.progress.Show(float64(done)/float64(total), "network") })
	if err != nil {
		return nil, fmt.Errorf("computing the response of the network: %w", err)
	}
	j.progress.Clear()
	j.progress.Show(0, j.class.Name()+" strategy")
	result, err := j.class.Optimize(ctx, factorize.Long(responses), j.schema, factorize.Options{})
	j.progress.Clear()
	if err != nil {
		return nil, fmt.Errorf("optimizing the %s strategy: %w", j.class.Name(), err)
	}
	if err := judgeLong(ctx, j.gram, sketch, result.Strategy); err != nil {
		return nil, err
	}
	o := &outcome{special: result}
	if j.flags.noBaselines {
		return o, nil
	}
	steps := j.schema.Steps()
	for _, b := range []struct {
		name string
		c    strategy.Strategy
	}{{"dp-d-sgd", strategy.Identity(steps)}, {"antipgd", strategy.AntiPGD(steps)}} {
		q, err := factorize.Evaluate(b.c, factorize.Long(responses), j.schema)
		if err != nil {
			return nil, fmt.Errorf("evaluating the baseline %s: %w", b.name, err)
		}
		o.baselines = append(o.baselines, benchmarks.Baseline{Name: b.name, Quality: q})
	}
	return o, nil
}

// longLoss checks squared error and loss of a strategy of many steps, and the baselines.
func (v *verification) longLoss(ctx context.Context, n *graph.Network, c strategy.Strategy) error {
	m := v.export.Manifest
	kind, err := workload.ParseKind(m.Workload)
	if err != nil {
		return err
	}
	if m.Gram == nil {
		v.add("loss", false, "the manifest does not say how it was computed")
		return nil
	}
	if err := v.checkSketch(n); err != nil {
		return err
	}
	responses, sketch, err := responsesBy(ctx, m.Gram, n, kind, nil)
	if err != nil {
		return v.computing("loss", err)
	}
	q, err := factorize.Evaluate(c, factorize.Long(responses), v.schema)
	if err != nil {
		return v.computing("loss", err)
	}
	v.lossIs(q, objectives[0])
	if m.LowerBound != 0 || m.Strategy.Ratio != 0 || m.Strategy.ClassBound != 0 || m.Strategy.ClassGap != nil || m.Objective != "" || m.Weights != nil {
		v.add("lower bound", false, "there is none for so many steps, and no other objective")
	}
	if sketch != nil {
		again := *m.Gram
		if err := judgeLong(ctx, &again, sketch, c); err != nil {
			return v.computing("estimate", err)
		}
		v.compare("estimate", fmt.Sprintf("of the network: the loss within %s", cli.DecimalUp(*again.LossError, 2)),
			v.estimateClaims(sketch, again)...)
	}
	if len(m.Baselines) == 0 {
		v.skip("baselines")
		return nil
	}
	is, err := plainBaselines(m.Steps, benchmarks.On(factorize.Long(responses), v.schema))
	if err != nil {
		return v.computing("baselines", err)
	}
	v.baselinesAre([]string{"dp-d-sgd", "antipgd"}, is)
	return nil
}

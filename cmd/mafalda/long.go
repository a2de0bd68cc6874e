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
func (j *job) isLong() bool { return j.schema.Steps() > factorize.LongSteps && j.class.long != nil }

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
	j.progress.Show(0, j.class.name+" strategy")
	series, err := j.class.long(ctx, responses, j.schema, &j.flags.strategy)
	j.progress.Clear()
	if err != nil {
		return nil, fmt.Errorf("optimizing the %s strategy: %w", j.class.name, err)
	}
	if err := judgeLong(ctx, j.gram, sketch, series.Strategy); err != nil {
		return nil, err
	}
	o := &outcome{special: &structured{strategy: series.Strategy, quality: series.Quality, iterations: series.Iterations}}
	if j.flags.noBaselines {
		return o, nil
	}
	steps := j.schema.Steps()
	for _, b := range []struct {
		name string
		c    strategy.Strategy
	}{{"dp-d-sgd", strategy.Identity(steps)}, {"antipgd", strategy.AntiPGD(steps)}} {
		q, err := factorize.EvaluateLong(b.c, responses, j.schema)
		if err != nil {
			return nil, fmt.Errorf("evaluating the baseline %s: %w", b.name, err)
		}
		o.baselines = append(o.baselines, benchmarks.Baseline{Name: b.name, Quality: q})
	}
	return o, nil
}

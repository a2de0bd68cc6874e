package plan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/internal/fault"
	"mafalda/internal/limits"
	"mafalda/measure"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// Solve returns the best strategy, with all that a manifest says of it. For a bad argument it fails as Check does.
//
// When ctx ends first, the best so far is returned with Status optim.Interrupted and a nil error, as it is with the
// other endings of searches; what was not begun is left out then. Before there is a strategy, and of very many steps,
// there is nothing to return but the context's error.
func Solve(ctx context.Context, p Problem, o Options) (*Solution, error) {
	started := time.Now()
	if err := p.Check(o); err != nil {
		return nil, err
	}
	if p.Network == nil && p.Workload.Kind != workload.Prefix {
		return nil, fault.New("Network", nil, "there is none for the workload %v", p.Workload.Kind)
	}
	o = o.filled(p)
	g, err := p.method(o)
	if err != nil {
		return nil, err
	}
	s := &solver{Solution: &Solution{Problem: p, Options: o, Gram: *g}}
	switch {
	case p.Sharing != nil:
		err = s.sharing(ctx)
	case o.Sampling == participation.Poisson:
		err = s.poisson(ctx)
	case o.Sampling == participation.Bins:
		err = s.binned(ctx)
	case p.long(o):
		err = s.long(ctx)
	default:
		err = s.search(ctx)
	}
	if err != nil {
		return nil, err
	}
	s.measure()
	s.Ending = s.ending(ctx)
	if err := s.private(); err != nil {
		return nil, err
	}
	if err := s.plain(ctx); err != nil {
		return nil, err
	}
	s.Took, s.PeakBytes = time.Since(started), limits.PeakBytes()
	return s.Solution, nil
}

// solver is a solution that is being made.
type solver struct {
	*Solution
	kernel   *workload.Kernel
	gram     *mat.SymDense       // of the mean, T×T
	estimate workload.Estimate   // that both are of; nil: they are exact
	many     factorize.Objective // of very many steps, in the place of the kernel
	bands    Bands               // that were found to be best, where batches are drawn in secret
}

func (s *solver) schema() participation.Schema { return s.Problem.Schema }

// show reports how far a phase is.
func (s *solver) show(phase string, fraction float64) {
	if s.Options.Progress != nil {
		s.Options.Progress(Event{Phase: phase, Fraction: fraction})
	}
}

// counts reports a phase of so many parts.
func (s *solver) counts(phase string) func(done, total int) {
	return func(done, total int) { s.show(phase, float64(done)/float64(max(total, 1))) }
}

// source returns what errors depend on; computing it is a phase.
func (s *solver) source(phase string) measure.Source {
	return measure.Source{Gram: &s.Gram, Network: s.Problem.Network, Workload: s.Problem.Workload,
		Progress: s.counts(phase)}
}

func (s *solver) note(warning bool, format string, args ...any) {
	if s.Options.Progress != nil {
		s.Options.Progress(Event{Note: fmt.Sprintf(format, args...), Warning: warning})
	}
}

// iteration reports an iteration of the search for the optimum, and keeps it.
func (s *solver) iteration(it factorize.Iteration) {
	s.History = append(s.History, export.Point{Loss: it.Loss, LowerBound: it.LowerBound})
	if s.Options.Progress != nil {
		s.Options.Progress(Event{Phase: "optimum", Fraction: s.fraction(it.Gap), Iteration: &it})
	}
}

// fraction says how far a gap has come from 1 down to the tolerance, on a logarithmic scale.
func (s *solver) fraction(gap float64) float64 {
	f := math.Log(gap) / math.Log(s.Options.Tolerance)
	if !(f > 0) { // above 1, or a tolerance of 1
		return 0
	}
	return math.Min(f, 1)
}

// search computes all that there is for steps that matrices of T×T have room for.
func (s *solver) search(ctx context.Context) error {
	err := s.measures(ctx)
	if err != nil {
		return err
	}
	if s.Problem.Objective == Mean {
		err = s.optimum(ctx)
	} else {
		err = s.byObjective(ctx)
	}
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{s.ofClass, s.several, s.baselines, s.judge} {
		if ctx.Err() != nil {
			return nil
		}
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// measures computes what strategies are measured by.
func (s *solver) measures(ctx context.Context) error {
	var err error
	s.kernel, s.estimate, err = s.source("Gram matrix").Kernel(ctx, s.schema().Steps())
	if err != nil {
		return fmt.Errorf("computing the Gram matrix: %w", err)
	}
	s.gram = s.kernel.Gram()
	return nil
}

// objective returns what strategies are measured by.
func (s *solver) objective() factorize.Objective {
	if s.kernel == nil {
		return s.many
	}
	if s.Problem.Objective == Mean {
		return factorize.Mean(s.gram)
	}
	return s.Problem.Objective.ForKernel(s.kernel)
}

// optimum computes the dense optimum under the schema or, where patterns overlap, under its relaxation, whose bound
// holds for the schema, too.
func (s *solver) optimum(ctx context.Context) error {
	steps := s.schema().Steps()
	kept := s.checkpoints(steps, steps)
	start, err := s.start(kept)
	if err != nil {
		return err
	}
	defer kept.end()
	s.Optimum, err = factorize.Dense{}.Optimize(ctx, s.objective(), participation.Relaxation(s.schema()),
		factorize.Options{Gap: s.Options.Tolerance, Start: start, Progress: func(it factorize.Iteration) {
			s.iteration(it)
			kept.keep(checkpointHeader{Iterations: it.Count}, it.X)
		}})
	if err != nil {
		return fmt.Errorf("optimizing: %w", err)
	}
	return nil
}

// byObjective computes the optimum for an objective other than the mean, and what the optimum for the mean costs by it.
func (s *solver) byObjective(ctx context.Context) error {
	objective := s.objective()
	var err error
	s.Optimum, err = s.Options.Class.Optimize(ctx, objective, s.schema(),
		factorize.Options{Gap: s.Options.Tolerance, Progress: s.iteration})
	if err != nil {
		return fmt.Errorf("optimizing: %w", err)
	}
	if s.Options.NoBaselines || ctx.Err() != nil {
		return nil
	}
	mean, err := factorize.Dense{}.Optimize(ctx, factorize.Mean(s.gram), s.schema(), factorize.Options{})
	if err != nil {
		return err
	}
	q, err := factorize.Evaluate(mean.Strategy, objective, s.schema())
	s.Baselines = append(s.Baselines, baselines.Measured{Name: baselines.MeanOptimal, Quality: q})
	return err
}

// ofClass computes the best strategy of a class, and bounds it where patterns overlap.
func (s *solver) ofClass(ctx context.Context) error {
	o, partition := s.Options, participation.IsPartition(s.schema())
	if o.dense() && partition {
		return nil
	}
	s.show(o.Class.Name()+" strategy", 0)
	opts := factorize.Options{Gap: o.Tolerance}
	if o.dense() {
		opts.LowerBound = s.Optimum.LowerBound
	}
	opts.Progress = func(it factorize.Iteration) {
		s.show(o.Class.Name()+" strategy", s.classFraction(it))
	}
	var err error
	if o.Budget != nil {
		err = s.fitting(ctx)
	} else if s.OfClass, err = o.Class.Optimize(ctx, s.objective(), s.schema(), opts); err != nil {
		err = fmt.Errorf("optimizing the %s strategy: %w", o.Class.Name(), err)
	}
	if partition || err != nil {
		return err
	}
	s.show("lower bound", 0)
	if s.overlapBound, err = factorize.OverlapBound(ctx, s.gram, strategy.GramOf(s.OfClass.Strategy),
		s.schema()); err != nil {
		return fmt.Errorf("bounding the loss: %w", err)
	}
	return nil
}

// classFraction says how far the search for the best of a class is: by its gap, or by descents that are done.
func (s *solver) classFraction(it factorize.Iteration) float64 {
	if it.Total > 0 {
		return float64(it.Done) / float64(it.Total)
	}
	return s.fraction(it.Gap)
}

// fitting finds the best strategy that fits the budget.
func (s *solver) fitting(ctx context.Context) error {
	search := &classSearch{objective: s.objective(), schema: s.schema(), bound: s.Optimum.LowerBound,
		gap: s.Options.Tolerance, progress: s.show}
	best, err := search.best(ctx, s.Options.Budget.Floats())
	s.OfClass, s.Options.Class, s.Fitting = best.Result, best.Class, search.found
	return err
}

// baselines measures the strategies of the field.
func (s *solver) baselines(ctx context.Context) error {
	if s.Options.NoBaselines {
		return nil
	}
	s.show("baselines", 0)
	measure := baselines.On(s.objective(), s.schema())
	if !s.hasDMF() {
		measured, err := baselines.Plain(s.schema().Steps(), measure)
		s.Baselines = append(s.Baselines, measured...)
		return err
	}
	// After all other searches, and not beside them: it keeps as many matrices.
	dmf, err := baselines.NewFor(ctx, baselines.DMF, s.Problem.Workload, s.schema())
	if isEnd(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("optimizing the baseline d-mf: %w", err)
	}
	measured, err := baselines.All(dmf, measure)
	s.Baselines = append(s.Baselines, measured...)
	return err
}

func (s *solver) hasDMF() bool { return baselines.HasDMF(s.Problem.Workload, s.schema().Steps()) }

// judge says how far off an estimate may be.
func (s *solver) judge(context.Context) error {
	if s.estimate == nil {
		return nil
	}
	s.show("error of the estimate", 0)
	d, err := measure.Judge(&s.Gram, s.estimate, s.gram, s.Strategy())
	if err != nil || s.OfClass != nil {
		return err
	}
	return d.Optimum(s.Optimum.Gap)
}

// isEnd reports whether err says that a context has ended.
func isEnd(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

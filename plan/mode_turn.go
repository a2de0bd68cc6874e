package plan

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/bands"
	"mafalda/factorize/baselines"
	"mafalda/internal/rounding"
	"mafalda/measure"
	"mafalda/participation"
	"mafalda/strategy"
)

// turnMode computes one strategy for all nodes, which take their batches in turn: the dense optimum with its
// certificate and, if another class is asked for or patterns overlap, the best of the class beside it.
type turnMode struct{ ordinary }

func (turnMode) takes(Problem, Options) bool { return true }

func (turnMode) check(Problem, Options) error { return nil }

func (turnMode) needs(j *job) Resources { return j.need(matricesOfSearch, 1, j.turnTime()) }

// turnTime returns about how many nanoseconds the searches take.
func (j *job) turnTime() float64 {
	steps := float64(j.schema().Steps())
	dense := denseTime(j.schema().Steps())
	switch {
	case j.Problem.Objective == Worst:
		return 10 * dense
	case j.Problem.Objective == Last:
		return 30 * dense
	case !participation.IsPartition(j.schema()):
		return 20 * dense
	case !j.Options.dense():
		return dense + 1e5*steps*steps
	}
	return dense
}

func (turnMode) solve(ctx context.Context, s *job) error {
	return runSteps(ctx, s.hedge, func(ctx context.Context) error {
		return s.search(ctx, s.optimizeClass, s.baselines, s.judge)
	}, s.setTurnQuality, s.setNoiseInTurn, s.compareOneLevel, s.compareOneBatch, s.setFamily, s.comparePlain)
}

// runSteps makes steps, up to the first that fails.
func runSteps(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// setTurnQuality fills in what the best strategy costs, and how the searches ended.
func (s *job) setTurnQuality(ctx context.Context) error {
	s.setQuality(s.best().Quality, math.Max(s.Optimum.LowerBound, s.overlapBound))
	searches := []*factorize.Result{s.Optimum}
	if s.OfClass != nil && s.Options.Class.Traits().Certified {
		searches = append(searches, s.OfClass)
	}
	s.Ending = endingOf(ctx, searches...)
	return nil
}

func (turnMode) describe(s *Solution, m *export.Manifest) {
	if p := s.Problem; p.Objective != Mean {
		m.Objective, m.Weights = p.Objective.String(), s.Optimum.Weights
	}
}

// search computes the optimum, and then makes the steps until ctx ends.
func (s *job) search(ctx context.Context, steps ...func(context.Context) error) error {
	if !s.Options.NoBaselines && s.hasDMF() && s.schema().Steps() <= stepsBeside {
		beside, stop := context.WithCancel(ctx)
		defer stop()
		s.dmf = s.startDMF(beside)
	}
	optimize := s.optimum
	if s.Problem.Objective != Mean {
		optimize = s.optimizeObjective
	}
	err := runSteps(ctx, s.measures, optimize)
	for _, step := range steps {
		if err == nil && ctx.Err() == nil {
			err = step(ctx)
		}
	}
	return err
}

// optimum computes the dense optimum under the schema or, where patterns overlap, under its relaxation, whose bound
// holds for the schema, too.
func (s *job) optimum(ctx context.Context) error {
	steps := s.schema().Steps()
	kept := s.checkpoints(steps * steps)
	start, err := s.start(kept)
	if err != nil {
		return err
	}
	defer kept.end()
	s.Optimum, err = s.dense(ctx, participation.Relaxation(s.schema()),
		factorize.Options{Gap: s.Options.Tolerance, Start: start, Progress: func(it factorize.Iteration) {
			s.iteration(it)
			kept.keep(checkpoint{Iterations: it.Count}, it.X)
		}})
	return err
}

// optimizeObjective computes the optimum for an objective other than the mean, and what the optimum for the mean
// costs by it.
func (s *job) optimizeObjective(ctx context.Context) error {
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

// optimizeClass computes the best strategy of a class, and bounds it where patterns overlap.
func (s *job) optimizeClass(ctx context.Context) error {
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
func (s *job) classFraction(it factorize.Iteration) float64 {
	if it.Total > 0 {
		return float64(it.Done) / float64(it.Total)
	}
	return fraction(it.Gap, s.Options.Tolerance)
}

// fitting finds the best strategy that fits the budget.
func (s *job) fitting(ctx context.Context) error {
	search := &classSearch{objective: s.objective(), schema: s.schema(), bound: s.Optimum.LowerBound,
		gap: s.Options.Tolerance, progress: s.show}
	best, err := search.best(ctx, s.Options.Budget.Floats())
	s.OfClass, s.Options.Class, s.Fitting = best.Result, best.Class, search.found
	return err
}

// baselines measures the strategies of the field.
func (s *job) baselines(ctx context.Context) error {
	if s.Options.NoBaselines {
		return nil
	}
	s.show("baselines", 0)
	measure := baselines.MeasureOf(s.objective(), s.schema())
	if !s.hasDMF() {
		measured, err := baselines.Plain(s.schema().Steps(), measure)
		s.Baselines = append(s.Baselines, measured...)
		return err
	}
	if s.dmf == nil {
		s.dmf = s.startDMF(ctx)
	}
	dmf, err := s.dmf()
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

// stepsBeside is up to how many steps D-MF is looked for beside other strategies, not after them: it keeps as many
// matrices, and uses the cores better than a single search the shorter the steps are.
const stepsBeside = 512

// startDMF looks for D-MF, and returns what waits for it.
func (s *job) startDMF(ctx context.Context) (wait func() (strategy.Strategy, error)) {
	wait = sync.OnceValues(func() (strategy.Strategy, error) {
		return baselines.NewFor(ctx, baselines.DMF, s.Problem.Workload, s.schema())
	})
	go func() { _, _ = wait() }()
	return wait
}

func (s *job) hasDMF() bool { return baselines.HasDMF(s.Problem.Workload, s.schema().Steps()) }

// setNoise fills in the noise for the privacy that is wanted, and what the error is with it.
func (s *job) setNoise(context.Context) error {
	o := s.Options
	var err error
	s.Privacy, err = o.Privacy.calibrate(rounding.SqrtUp(s.Quality.Sensitivity.Squared))
	switch {
	case err != nil || s.Problem.Levels == nil:
	case s.Problem.Sharing != nil:
		s.Budgets = slices.Clone(s.Problem.Levels.levels)
		for i := range s.Budgets { // the unit of all nodes' rows
			s.Budgets[i].NoiseStd = s.Privacy.NoiseStd
		}
	default:
		s.Budgets, err = s.Problem.Levels.calibrate(rounding.SqrtUp(s.Quality.Sensitivity.Squared), o.Privacy.Adjacency)
	}
	if err != nil || o.Privacy == nil || o.Privacy.Epsilon == 0 {
		return err
	}
	s.ErrorAtPrivacy = measure.ErrorAtPrivacy(s.Privacy.NoiseStd/s.Privacy.Clip, s.Quality.SquaredError)
	if _, cyclic := s.schema().(participation.Cyclic); cyclic {
		s.Sampling = &export.Sampling{Scheme: o.Sampling.String()}
	}
	return nil
}

// setNoiseInTurn is setNoise with the errors of others at the privacy: of the dense optimum and, with batches that
// are drawn in secret, of DP-D-SGD.
func (s *job) setNoiseInTurn(ctx context.Context) error {
	if err := s.setNoise(ctx); err != nil || s.Sampling == nil || !participation.IsPartition(s.schema()) {
		return err
	}
	s.CyclicErrorAtPrivacy = s.ErrorAtPrivacy / s.Quality.Loss * s.Optimum.Loss
	compared := s.Options.known != nil // with others, of which this is one
	if s.Problem.Objective == Mean && s.Problem.Levels == nil && s.Options.Privacy.Adjacency == accounting.ZeroOut && !compared {
		s.DPDSGDRatio = s.plainSampled() / s.ErrorAtPrivacy
	}
	return nil
}

// plainSampled is the error at the privacy of DP-D-SGD with Poisson sampling, that is of one band, whose squared
// error is the trace of H; +Inf where there is no noise for it, or where it is not comparable.
func (s *job) plainSampled() float64 {
	schema, target := s.schema(), s.Options.Privacy.Target
	if s.gram == nil || schema.Steps() > schema.Participations()*schema.Separation() {
		return math.Inf(1)
	}
	multiplier, err := (bands.Noise{}).Multiplier(schema, 1, target.Epsilon, target.Delta)
	if err != nil {
		return math.Inf(1)
	}
	return measure.ErrorAtPrivacy(multiplier, s.gram.Trace())
}

// compareOneBatch fills in the least loss for people whose records are in one batch of the cycle, where they may be in
// several, unless nothing is to be compared: what the other batches cost.
func (s *job) compareOneBatch(ctx context.Context) error {
	people, are := s.schema().(*participation.People)
	if !are || people.Batches() == 1 || s.Options.NoBaselines || ctx.Err() != nil {
		return nil
	}
	s.show("people in one batch", 0)
	loss, err := s.leastLoss(ctx, s.objective(), people.Cycle())
	s.OneBatchLoss = loss
	return err
}

// leastLoss returns the loss of the dense optimum, to compare with; 0 if ctx ends before it is known.
func (s *job) leastLoss(ctx context.Context, o factorize.Objective, schema participation.Schema) (float64, error) {
	r, err := factorize.Dense{}.Optimize(ctx, o, schema, factorize.Options{Gap: s.Options.Tolerance})
	switch {
	case isEnd(err) || err == nil && ctx.Err() != nil:
		return 0, nil
	case err != nil:
		return 0, err
	}
	return r.Loss, nil
}

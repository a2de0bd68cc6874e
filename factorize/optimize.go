package factorize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/fault"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// optimizeMasked minimizes f(X) = tr(HX⁻¹) over the X within the mask, as docs/mathematics.md derives it:
//
//	H = RᵀR, scaled to a mean diagonal of one               section 2
//	X ← the best of three closed forms                      section 6, chooseStart
//	repeat
//	    G ← -P(Λ), Λ = X⁻¹HX⁻¹                              section 4, maskedObjective
//	    bound ← ‖RF‖_*²/Σy_i, FFᵀ the blocks of Λ           section 5, certificate
//	    stop if f(X)/bound - 1 ≤ Gap
//	    X ← X + α·(L-BFGS's step for G from M),             section 6, optim.Minimize
//	        M = V ↦ P(U((UᵀVU)∘D)Uᵀ)                        section 6, metric
//	    if that is slow, once: X ← X(Λ) at the maximum of D section 6, Newton's method in the dual: dualSearch
//	C with CᵀC = X, scaled to sens(C) = 1                   section 7, measure
//
// Where patterns overlap, what follows is in section 4: see refineOverlap. An H without R is optimizeSingular's.
func optimizeMasked(ctx context.Context, h *mat.SymDense, k mask, opts Options) (*Result, error) {
	s, err := optimizeWithin(ctx, h, k, opts)
	if errors.Is(err, errSingular) {
		return optimizeSingular(ctx, h, k, opts)
	}
	if err != nil || participation.IsPartition(k.schema) {
		return s.result, err
	}
	return s.refineOverlap(ctx, h, s.result)
}

// optimizeWithin is optimizeMasked within the mask and its budgets, also where patterns overlap. errSingular is wrapped
// where h has no R in floating point.
func optimizeWithin(ctx context.Context, h *mat.SymDense, k mask, opts Options) (s search, err error) {
	schema := k.schema
	opts.Gap = cmp.Or(opts.Gap, MeanError.DefaultGap())
	if least := MinGap(schema.Steps()); !(opts.Gap >= least) {
		return s, fault.New("Gap", opts.Gap, "rounding allows no less than %.1g for T = %d", least, schema.Steps())
	}
	scaled, unit, err := scaleToUnit(h)
	if err != nil {
		return s, err
	}
	if s, err = newSearch(scaled, k, opts); err != nil {
		return s, err
	}
	s.unit = unit
	if s.x, err = chooseStart(scaled, s.objective, opts.Start); err != nil {
		return s, err
	}
	scaled = nil // its numbers are the objective's now
	s.result, err = s.finish(h, s.minimize(ctx))
	return s, err
}

// scaleToUnit divides h by its mean diagonal, so that no power of ten in it matters.
func scaleToUnit(h *mat.SymDense) (*mat.SymDense, float64, error) {
	steps := h.SymmetricDim()
	unit := mat.Trace(h) / float64(steps)
	if !(unit > 0) || math.IsInf(unit, 0) {
		return nil, 0, fmt.Errorf("%w: its trace is %v", ErrGram, unit*float64(steps))
	}
	var scaled mat.SymDense
	scaled.ScaleSym(1/unit, h)
	return &scaled, unit, nil
}

// search is the state of one search over X around the minimizer: metric, certificate and their schedule.
type search struct {
	objective *maskedObjective
	metric    *metric
	opts      Options
	unit      float64 // number that H was divided by

	bound     float64 // the best lower bound
	gapFactor float64 // certified gap over predicted decrease, at the last check
	checkedAt int     // iteration of the last check
	err       error   // error of a check

	x        []float64 // X where it is
	result   *Result   // result at the end
	dual     []float64 // Λ at the maximum of the dual, until it is known whether the certificate's is enough
	descents int       // descents begun, at most two
	before   int       // iterations before this descent
	slow     bool      // the first descent was given up because it was slow
}

// newSearch makes R; errSingular is wrapped where h has none in floating point.
func newSearch(h *mat.SymDense, k mask, opts Options) (search, error) {
	root, err := gramRoot(h)
	if err != nil {
		return search{}, err
	}
	o := newMaskedObjective(h, root, k)
	return search{objective: o, metric: newMetric(o), opts: opts, gapFactor: 4}, nil
}

const (
	slowFirst = 3    // descent is slow if its first gap is above this,
	slowAsked = 1e-8 // or the gap to reach is below this,
	slowGap   = 1e-2 // or the gap is still above this
	slowFrom  = 12   // after this number of iterations,
	slowAt    = 40   // and in any case after this number
)

// minimize descends from the start. Where that is slow, and the patterns are a partition, it goes on from the maximum of the
// dual.
func (s *search) minimize(ctx context.Context) optim.Result {
	limit := s.opts.limit(mostIterations)
	ended := s.descend(ctx, limit)
	if !s.slow || s.err != nil {
		return ended
	}
	if ctx.Err() != nil {
		ended.Status = optim.Interrupted
		return ended
	}
	s.before = ended.Iterations
	dual := newDualSearch(s.objective)
	var near []float64
	if s.opts.Start != nil {
		near = slices.Clone(s.objective.lambda)
	}
	better := dual.search(ctx, near, s.opts.Gap/4, func() {
		s.before++
		s.report(optim.Iteration{Value: ended.Value, X: s.x})
	})
	if better != nil && s.objective.Value(better) < ended.Value {
		copy(s.x, better)
		s.dual = dual.matrix()
	}
	s.checkedAt = 0
	again := s.descend(ctx, max(limit-s.before, 1))
	again.Iterations += s.before
	return again
}

const mostIterations = 2000

func (s *search) descend(ctx context.Context, limit int) optim.Result {
	s.descents++
	return optim.Minimize(ctx, s.objective, s.x, optim.Options{
		MaxIterations: limit,
		Precondition:  s.metric.solveTo,
		Done:          s.checkDone,
	})
}

const checkEvery = 12 // iterations between certificates at the latest

// checkDone is optim.Options.Done: it keeps the metric fresh, and improves the lower bound where the certificate may be
// close enough. From a bound it learns how the gap relates to the decrease that the next step predicts.
func (s *search) checkDone(it optim.Iteration) bool {
	s.metric.follow(it)
	if it.Count == 0 || s.gapFactor*it.Decrease/it.Value <= s.opts.Gap || it.Count-s.checkedAt >= checkEvery {
		bound, _, err := s.objective.bound(it.X)
		if err != nil {
			s.err = err
			return true
		}
		s.bound, s.checkedAt = math.Max(s.bound, bound), it.Count
		if s.dual != nil && GapOf(it.Value, s.bound) > s.opts.Gap {
			if bound, err := s.objective.farBound(s.dual); err == nil {
				s.bound = math.Max(s.bound, bound)
			}
			s.dual = nil
		}
		if gap := GapOf(it.Value, s.bound); it.Decrease > 0 && gap > 0 {
			s.gapFactor = math.Min(math.Max(gap*it.Value/it.Decrease, 0.1), 1e4)
		}
	}
	s.report(it)
	gap := GapOf(it.Value, s.bound)
	if gap <= s.opts.Gap {
		return true
	}
	s.slow = s.descents == 1 && s.objective.mask.partition() &&
		(it.Count >= slowAt ||
			it.Count >= slowFrom && gap > slowGap || it.Count == 0 && (gap > slowFirst || s.opts.Gap < slowAsked))
	return s.slow
}

// report tells Progress how far the search is.
func (s *search) report(it optim.Iteration) {
	if s.opts.Progress != nil {
		s.opts.Progress(Iteration{Count: s.before + it.Count, Loss: it.Value * s.unit, LowerBound: s.bound * s.unit,
			Gap: GapOf(it.Value, s.bound), X: it.X})
	}
}

// finish turns the last X into a strategy and measures it on the unscaled h. A run that ended early gets the bound
// that is best far from the optimum.
func (s *search) finish(h *mat.SymDense, ended optim.Result) (*Result, error) {
	if s.err != nil {
		return nil, s.err
	}
	schema := s.objective.mask.schema
	result := &Result{Iterations: ended.Iterations, Status: ended.Status}
	if err := result.measure(h, s.x, schema); err != nil {
		return nil, err
	}
	bound := s.bound * s.unit * (1 - 0x1p-50)
	if ended.Status != optim.Converged {
		far, err := s.objective.farBound(s.objective.lambda)
		if err != nil {
			return nil, err
		}
		bound = math.Max(bound, far*s.unit*(1-0x1p-50))
	}
	result.LowerBound, result.Gap = bound, GapOf(result.Loss, bound)
	if result.Gap <= s.opts.Gap {
		result.Status = optim.Converged
		if bound > s.bound*s.unit { // a search that has converged ends with what proves it
			s.bound = bound / s.unit
			s.report(optim.Iteration{Count: ended.Iterations - s.before + 1, Value: ended.Value, X: s.x})
		}
	}
	return result, nil
}

// measure sets the strategy of X, and its quality.
func (r *Result) measure(h *mat.SymDense, x []float64, schema participation.Schema) error {
	factor, err := strategy.FromGram(mat.NewSymDense(schema.Steps(), x))
	if err != nil {
		return fmt.Errorf("strategy of the optimal X: %w", err)
	}
	return r.take(factor, Mean(h), schema)
}

// take sets the strategy to c, normalized, and its quality.
func (r *Result) take(c strategy.Strategy, o Objective, schema participation.Schema) (err error) {
	if r.Strategy, err = strategy.Normalize(c, schema); err != nil {
		return err
	}
	r.Quality, err = Evaluate(r.Strategy, o, schema)
	return err
}

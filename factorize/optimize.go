package factorize

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// Options tunes Optimize. The zero value asks for the defaults named here.
type Options struct {
	Gap           float64         // stop at this certified relative gap; 0 means 1e-6; below MinGap is an error
	MaxIterations int             // 0 means 2000; reaching it ends with optim.IterationLimit and the gap so far
	Start         *mat.SymDense   // X to start from, T×T, positive definite, such as CᵀC of a similar problem; nil: a guess
	LowerBound    float64         // where patterns overlap: a bound for the schema that is known already; 0: computed
	Progress      func(Iteration) // if not nil, sees every iteration, on the caller's goroutine
}

// MinGap returns the smallest gap that can be asked for with T steps: twice what the certificate gives away to rounding.
func MinGap(steps int) float64 { return 2 * certificateSlack(steps) }

// Iteration is what Progress sees.
type Iteration struct {
	Count      int
	Loss       float64   // of the current iterate
	LowerBound float64   // the best so far; 0 before the first check
	Gap        float64   // (Loss - LowerBound)/LowerBound; +Inf before the first check
	X          []float64 // the iterate, T×T row by row: what Options.Start takes; read only, and valid during the call
}

// Result is the end of Optimize.
type Result struct {
	Strategy   strategy.Strategy // sens² ≤ 1, up to rounding equal
	Quality                      // of Strategy
	LowerBound float64           // no strategy of this class has a smaller loss
	Gap        float64           // (Loss - LowerBound)/LowerBound, certified
	Iterations int
	Status     optim.Status // Converged if Gap is at most the one asked for; where patterns overlap: that within mask and budgets
}

// ErrUnsupported is wrapped by errors about a combination of strategy and schema that has no method.
var ErrUnsupported = errors.New("not supported")

// ErrGram is wrapped by errors about a Gram matrix that cannot be factorized.
var ErrGram = errors.New("factorization of the Gram matrix")

// Optimize returns the strategy of least loss for the T×T Gram matrix h under the schema, with a certificate (Bellet et
// al., Algorithm 2, by the method of docs/mathematics.md): L-BFGS over masked X from a banded start, in the metric of the
// cosine basis, until the certified gap is reached. For b = 1 the optimum is diagonal, for k = 1 it is the optimum under
// single participation.
//
// If the schema's patterns are a partition of the steps (participation.IsPartition), this is the optimum. Under any other
// schema Optimize first looks among the strategies whose columns are orthogonal on every pattern, with a diagonal of X within
// the schema's Budgets, until the gap is reached among these, and then improves on their optimum without mask and budgets, by
// the sensitivity itself (for up to OverlapSteps steps). LowerBound is then that of the schema's Relaxation, and Gap the distance to it; see OverlapBound for a
// better one.
// Under min-sep the strategies have 2b bands. In every case no strategy whatsoever has a smaller loss than LowerBound.
//
// When ctx ends first, the best strategy so far is returned with Status optim.Interrupted and a nil error; likewise for
// the other endings before the gap is reached. The error is ErrGram for an h that is not finite or not numerically
// positive definite. Memory: about 35 matrices of T×T; time: O(T³) an iteration, some 30 iterations for a gap of 1e-6.
func Optimize(ctx context.Context, h *mat.SymDense, schema participation.Schema, opts Options) (*Result, error) {
	return optimizeMasked(ctx, h, denseMask(schema), opts)
}

// overlapBound is the lower bound for the mask's strategies that the schema's Relaxation has.
func overlapBound(ctx context.Context, h *mat.SymDense, k mask, opts Options) (float64, error) {
	if opts.LowerBound > 0 {
		return opts.LowerBound, nil
	}
	r, err := optimizeMasked(ctx, h, newMask(participation.Relaxation(k.schema), k.bandwidth), Options{Gap: opts.Gap})
	if err != nil {
		return 0, err
	}
	return r.LowerBound, nil
}

func optimizeMasked(ctx context.Context, h *mat.SymDense, k mask, opts Options) (*Result, error) {
	schema := k.schema
	if opts.Gap == 0 {
		opts.Gap = 1e-6
	}
	if least := MinGap(schema.Steps()); !(opts.Gap >= least) {
		return nil, fmt.Errorf("gap %v: rounding allows no less than %.1g for %d steps", opts.Gap, least, schema.Steps())
	}
	if h.SymmetricDim() != schema.Steps() {
		return nil, fmt.Errorf("schema of %d steps for a Gram matrix of %d", schema.Steps(), h.SymmetricDim())
	}
	scaled, unit, err := scaleToUnit(h)
	if err != nil {
		return nil, err
	}
	search, err := newSearch(scaled, k, opts)
	if err != nil {
		return nil, err
	}
	search.unit = unit
	x, err := chooseStart(scaled, search.objective, opts.Start)
	if err != nil {
		return nil, err
	}
	ended := optim.Minimize(ctx, search.objective, x, optim.Options{
		MaxIterations: opts.MaxIterations,
		Precondition:  search.metric.solveTo,
		Done:          search.done,
	})
	result, err := search.finish(h, x, ended)
	if err != nil || participation.IsPartition(schema) {
		return result, err
	}
	improved, iterations := improveOverlap(ctx, search.objective, x)
	if iterations > 0 {
		if err := result.measure(h, improved, schema); err != nil {
			return nil, err
		}
		result.Iterations += iterations
	}
	if result.LowerBound, err = overlapBound(ctx, h, k, opts); err != nil {
		return nil, err
	}
	result.Gap = (result.Loss - result.LowerBound) / result.LowerBound
	if ctx.Err() != nil {
		result.Status = optim.Interrupted
	}
	return result, nil
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

// search is the state of one Optimize around the minimizer: metric, certificate and their schedule.
type search struct {
	objective   *objective
	metric      *metric
	certificate *certificate
	opts        Options
	unit        float64 // what H was divided by

	bound     float64 // the best lower bound
	gapFactor float64 // certified gap over predicted decrease, at the last check
	checkedAt int     // iteration of the last check
	err       error   // of a check
}

func newSearch(h *mat.SymDense, k mask, opts Options) (*search, error) {
	var chol dense.Cholesky
	if !chol.Factorize(h) {
		return nil, fmt.Errorf("%w: it is not positive definite in floating point", ErrGram)
	}
	var root mat.TriDense
	chol.UTo(&root)
	s := &search{objective: newObjective(h, &root, k), certificate: newCertificate(&root, k), opts: opts, gapFactor: 4}
	s.metric = newMetric(k)
	return s, nil
}

const (
	refreshEvery = 5  // iterations between refreshes of the metric
	checkEvery   = 12 // iterations between certificates at the latest
)

// done is optim.Options.Done: it keeps the metric fresh and certifies when a certificate may be close enough.
func (s *search) done(it optim.Iteration) bool {
	if it.Count%refreshEvery == 0 {
		s.metric.refresh(s.objective.inverse.RawSymmetric().Data, s.objective.lambda)
	}
	if it.Step != nil {
		s.metric.fit(it.Step, it.Change)
	}
	due := it.Count == 0 || s.gapFactor*it.Decrease/it.Value <= s.opts.Gap || it.Count-s.checkedAt >= checkEvery
	if due {
		s.check(it)
	}
	gap := s.gap(it.Value)
	if s.opts.Progress != nil {
		s.opts.Progress(Iteration{Count: it.Count, Loss: it.Value * s.unit, LowerBound: s.bound * s.unit, Gap: gap, X: it.X})
	}
	return s.err != nil || gap <= s.opts.Gap
}

// check improves the lower bound and learns how the gap relates to the decrease that the next step predicts.
func (s *search) check(it optim.Iteration) {
	bound, err := s.certificate.bound(it.X, s.objective.lambda)
	if err != nil {
		s.err = err
		return
	}
	s.bound = math.Max(s.bound, bound)
	s.checkedAt = it.Count
	if gap := s.gap(it.Value); it.Decrease > 0 && gap > 0 {
		s.gapFactor = math.Min(math.Max(gap*it.Value/it.Decrease, 0.1), 1e4)
	}
}

func (s *search) gap(value float64) float64 {
	if s.bound == 0 {
		return math.Inf(1)
	}
	return (value - s.bound) / s.bound
}

// finish turns the last X into a strategy and measures it on the unscaled h. A run that ended early gets the bound that is
// best far from the optimum.
func (s *search) finish(h *mat.SymDense, x []float64, ended optim.Result) (*Result, error) {
	if s.err != nil {
		return nil, s.err
	}
	schema := s.objective.mask.schema
	result := &Result{Iterations: ended.Iterations, Status: ended.Status}
	if err := result.measure(h, x, schema); err != nil {
		return nil, err
	}
	bound := s.bound * s.unit * (1 - 0x1p-50)
	if ended.Status != optim.Converged {
		far, err := singularValueBound(s.certificate.rootSource, s.objective.lambda, s.objective.mask)
		if err != nil {
			return nil, err
		}
		bound = math.Max(bound, far*s.unit*(1-0x1p-50))
	}
	result.LowerBound, result.Gap = bound, (result.Loss-bound)/bound
	if result.Gap <= s.opts.Gap {
		result.Status = optim.Converged
	}
	return result, nil
}

// measure sets the strategy of X, and its quality.
func (r *Result) measure(h *mat.SymDense, x []float64, schema participation.Schema) error {
	factor, err := strategy.FromGram(mat.NewSymDense(schema.Steps(), x))
	if err != nil {
		return fmt.Errorf("strategy of the optimal X: %w", err)
	}
	if r.Strategy, err = Normalize(factor, schema); err != nil {
		return err
	}
	r.Quality, err = Evaluate(r.Strategy, h, schema)
	return err
}

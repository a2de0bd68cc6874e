package factorize

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/rounding"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// StepErrors is a workload whose steps count one by one; workload.Kernel is one.
type StepErrors interface {
	Steps() int
	StepErrors(y mat.Symmetric) []float64         // e_t = ⟨H_t, Y⟩ of every step, for Y = C⁻¹C⁻ᵀ
	WeightedGram(weights []float64) *mat.SymDense // Σ_t weights[t]·H_t
}

// EvaluateSteps returns the sensitivity of c and the squared error of every step.
func EvaluateSteps(
	c strategy.Strategy, e StepErrors, schema participation.Schema,
) (participation.Sensitivity, []float64, error) {
	if c.Steps() != e.Steps() {
		return participation.Sensitivity{}, nil, fmt.Errorf("strategy of %d steps on a workload of %d", c.Steps(),
			e.Steps())
	}
	sens, err := strategy.Sensitivity(c, schema)
	if err != nil {
		return participation.Sensitivity{}, nil, err
	}
	errors, err := stepErrors(c, e)
	return sens, errors, err
}

func stepErrors(c strategy.Strategy, e StepErrors) ([]float64, error) {
	y, err := inverseGram(c)
	if err != nil {
		return nil, err
	}
	return e.StepErrors(mat.NewSymDense(c.Steps(), y)), nil
}

const (
	worstFloor  = 1e-5 // share of the weight that is even, which keeps the weighted Gram matrix positive definite
	worstRounds = 200
)

// stepSearch is a search in rounds, each of which finds the optimum of some weighted mean of the steps.
type stepSearch struct {
	gap      float64
	progress Progress
	best     *Result
}

func newStepSearch(opts Options, k Kind) *stepSearch {
	s := &stepSearch{cmp.Or(opts.Gap, k.DefaultGap()), opts.Progress, &Result{Status: optim.IterationLimit}}
	s.best.Loss = math.Inf(1)
	return s
}

// isLastRound reports whether this round, whose optimum is r, was the last. Progress sees x, if it is not nil.
func (s *stepSearch) isLastRound(round int, r *Result, x *mat.SymDense) bool {
	best := s.best
	best.Iterations += r.Iterations
	best.Gap = GapOf(best.Loss, best.LowerBound)
	if s.progress != nil {
		it := Iteration{Count: round, Loss: best.Loss, LowerBound: best.LowerBound, Gap: best.Gap}
		if x != nil {
			it.X = numbersOf(x)
		}
		s.progress(it)
	}
	switch {
	case best.Gap <= s.gap:
		best.Status = optim.Converged
	case r.Status == optim.Interrupted:
		best.Status = optim.Interrupted
	default:
		return false
	}
	return true
}

// optimizeWorst minimizes the largest of the steps' errors, sens(C)²·max_t e_t. For weights q, q ≥ 0 and Σq = 1,
// max_t e_t ≥ Σ q_t e_t, so the optimum for the Gram matrix Σ q_t H_t has a certificate for this problem, too; and the
// best weights make both sides equal. They are found by weightSteps. Gap and status are against this bound.
func optimizeWorst(ctx context.Context, e StepErrors, members int, schema participation.Schema, opts Options,
	next weightStep, optimize func(h *mat.SymDense, inner Options) (*Result, error),
) (*Result, error) {
	search := newStepSearch(opts, WorstStep)
	best := search.best
	q := slices.Repeat([]float64{1 / float64(members)}, members)
	// e_t is off by about the root of the gap of the strategy
	gap := math.Max(math.Min(search.gap/8, search.gap*search.gap), MinGap(e.Steps()))
	inner := Options{Gap: gap, MaxIterations: opts.MaxIterations, Start: opts.Start}
	for round := range worstRounds {
		r, err := optimize(e.WeightedGram(q), inner)
		if err != nil {
			return nil, err
		}
		sens, errors, err := EvaluateSteps(r.Strategy, e, schema)
		if err != nil {
			return nil, err
		}
		if bound := worstStepBound(r.Bound(), q); bound > best.LowerBound {
			best.LowerBound, best.Weights = bound, slices.Clone(q)
		}
		if worst := floats.Max(errors); sens.Squared*worst < best.Loss {
			best.Strategy, best.Quality = r.Strategy, Quality{sens, worst, sens.Squared * worst}
		}
		if search.isLastRound(round, r, nil) {
			break
		}
		next(q, errors, r.Bound())
		inner.Start = strategy.GramOf(r.Strategy)
	}
	return best, nil
}

// weightStep replaces weights q, whose errors these are, by better ones; bound is what they prove.
type weightStep func(q, errors []float64, bound float64)

// evenStep makes q_t ← q_t e_t/Σ q e, which increases the bound, since that is a concave function of q, homogeneous of
// degree one, whose gradient is e.
func evenStep(q, errors []float64, _ float64) {
	mean := floats.Dot(q, errors)
	for t := range q {
		q[t] = (1-worstFloor)*q[t]*errors[t]/mean + worstFloor/float64(len(q))
	}
}

// longStep returns the step q_t ← q_t e_t^p/Σ q e^p, for few members, with a p that grows while the bound does, and which
// goes back to the best weights where it does not.
func longStep() weightStep {
	power, best := 1.0, 0.0
	var from, at []float64
	return func(q, errors []float64, bound float64) {
		if bound >= best {
			best, from, at, power = bound, slices.Clone(q), slices.Clone(errors), power*1.5
		} else {
			power /= 4
		}
		for t := range q {
			q[t] = from[t] * math.Pow(at[t], power)
		}
		evenStep(q, slices.Repeat([]float64{1}, len(q)), 0)
	}
}

// worstStepBound returns the lower bound for the worst step that a lower bound for the Gram matrix Σ q_t H_t proves:
// max_t e_t ≥ Σ q_t e_t/Σ q_t. The sum of the weights is 1 but for rounding, and counts as it is, rounded up.
func worstStepBound(bound float64, weights []float64) float64 {
	var sum rounding.Sum
	for _, w := range weights {
		sum.Add(w)
	}
	return math.Nextafter(bound/sum.Up(), 0)
}

// lastGram returns the Gram matrix of the last step with such a share of the mean of all. Steps that count in no step,
// since their rate is zero, have the same share of the mean diagonal: without it nothing with a share is definite.
func lastGram(e StepErrors, mix float64) *mat.SymDense {
	weights := slices.Repeat([]float64{mix / float64(e.Steps())}, e.Steps())
	weights[len(weights)-1] += 1 - mix
	h := e.WeightedGram(weights)
	var chol dense.Cholesky
	if mix > 0 && !chol.Factorize(h) {
		return withShare(h, mix)
	}
	return h
}

// lastStep returns the Gram matrix of the last step, with shares of the mean error: by itself it is numerically
// singular. Gaps much below the default take long, since the problem is as ill-conditioned as the share is small.
func lastStep(e StepErrors) singularGram {
	return singularGram{lastGram(e, 0), func(share float64) *mat.SymDense { return lastGram(e, share) }}
}

// LowerBoundLast is LowerBound for the error of the last step alone: good if x is close to an optimal CᵀC, valid for
// every positive definite x.
func LowerBoundLast(e StepErrors, x *mat.SymDense, schema participation.Schema) (float64, error) {
	return lastStep(e).lowerBound(x, denseMask(participation.Relaxation(schema)))
}

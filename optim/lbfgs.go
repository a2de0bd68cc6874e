package optim

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
)

// Objective is a function on an open subset of Rⁿ with a gradient.
type Objective interface {
	// Value returns f(x), or +Inf or NaN for x outside the domain. It must not keep x.
	Value(x []float64) float64
	// GradientTo writes ∇f at the x of the last call of Value, which was finite, to dst.
	GradientTo(dst []float64)
}

// Options tunes Minimize. The zero value asks for the defaults named here.
type Options struct {
	Memory        int // pairs kept; 0 means 10. Each costs two vectors
	MaxIterations int // 0 means 2000; reaching it ends with IterationLimit

	// Precondition, if not nil, writes an approximation of (∇²f)⁻¹ g to dst: linear in g, symmetric, positive definite
	// on the directions that gradients can have. It may change between iterations (from within Done).
	Precondition func(dst, g []float64)

	// Done, if not nil, is asked after every iteration, and once before the first, whether to stop. The slices of the
	// iteration are Minimize's own and valid during the call only.
	Done func(Iteration) bool
}

// Iteration describes the current iterate.
type Iteration struct {
	Count       int       // iterations made
	Value       float64   // f(X)
	Decrease    float64   // -½ slope of the last search direction: the decrease a quadratic model predicts; 0 at first
	X, Gradient []float64 // read only
	Step        []float64 // X less the X before; nil at first
	Change      []float64 // Gradient less the gradient before; nil at first
}

// Status says why a run ended.
type Status int

const (
	// Converged is a run that Done ended.
	Converged Status = iota
	// IterationLimit is a run that used up MaxIterations.
	IterationLimit
	// Interrupted is a run that its context ended.
	Interrupted
	// Stalled is a run that could not decrease the value any more: the limit of floating point, or an objective whose
	// gradient does not belong to its value.
	Stalled
)

var statusNames = [...]string{"converged", "iteration limit", "interrupted", "stalled"}

// String returns the status in words.
func (s Status) String() string { return statusNames[s] }

// Result is the end of a run. The minimizer itself is written to the x given to Minimize.
type Result struct {
	Value      float64
	Iterations int
	Status     Status
}

const (
	sufficientDecrease = 1e-4  // Armijo's constant
	valueNoise         = 1e-13 // relative rounding of the objective, forgiven by the step search
	smallestStep       = 1e-14
	patience           = 10 // iterations in a row without any decrease before a run counts as stalled
)

// Minimize decreases f from x, which must be in the domain, and leaves the last and best iterate in x. The search for a
// step is backtracking with quadratic interpolation, from step one; pairs with too little curvature are not stored.
func Minimize(ctx context.Context, f Objective, x []float64, opts Options) Result {
	opts.Memory, opts.MaxIterations = cmp.Or(opts.Memory, 10), cmp.Or(opts.MaxIterations, 2000)
	r := newRun(f, x, opts)
	if math.IsNaN(r.value) || math.IsInf(r.value, 0) {
		return r.result(Stalled)
	}
	for {
		switch {
		case opts.Done != nil && opts.Done(r.iteration()):
			return r.result(Converged)
		case ctx.Err() != nil:
			return r.result(Interrupted)
		case r.count == opts.MaxIterations:
			return r.result(IterationLimit)
		case !r.advance() || r.idle == patience:
			return r.result(Stalled)
		}
	}
}

// run is the state of one minimization; all vectors are allocated once.
type run struct {
	f     Objective
	opts  Options
	pairs *history

	x, gradient, direction []float64
	trial, trialGradient   []float64
	step, change           []float64 // step and change of the gradient in the last iteration
	value, slope           float64
	count                  int
	idle                   int // iterations since the value decreased
}

func newRun(f Objective, x []float64, opts Options) *run {
	n := len(x)
	r := &run{f: f, opts: opts, pairs: newHistory(opts.Memory, n), x: x, gradient: make([]float64, n)}
	r.value = f.Value(x)
	if !math.IsNaN(r.value) && !math.IsInf(r.value, 0) {
		f.GradientTo(r.gradient)
	}
	return r
}

func (r *run) iteration() Iteration {
	return Iteration{Count: r.count, Value: r.value, Decrease: -r.slope / 2,
		X: r.x, Gradient: r.gradient, Step: r.step, Change: r.change}
}

func (r *run) result(s Status) Result { return Result{Value: r.value, Iterations: r.count, Status: s} }

// advance makes one iteration and reports whether it could. If the memory leads nowhere it is dropped once and the
// plain (preconditioned) gradient tried.
func (r *run) advance() bool {
	if r.direction == nil { // a run that Done ends at once has no need of these
		n := len(r.x)
		r.direction, r.trial, r.trialGradient = make([]float64, n), make([]float64, n), make([]float64, n)
	}
	for {
		r.pairs.solveTo(r.direction, r.gradient, r.opts.Precondition)
		floats.Scale(-1, r.direction)
		r.slope = dot(r.gradient, r.direction)
		if r.slope < 0 && r.search() {
			r.accept()
			return true
		}
		if r.pairs.empty() {
			return false
		}
		r.pairs.clear()
	}
}

// search looks for a step of sufficient decrease along direction and leaves the point in trial, its value in value.
func (r *run) search() bool {
	step := 1.0
	if r.pairs.empty() && r.opts.Precondition == nil { // an unscaled gradient: a tenth of x
		step = cmp.Or(math.Min(1, 0.1*floats.Norm(r.x, 2)/floats.Norm(r.direction, 2)), 1)
	}
	for step > smallestStep {
		copy(r.trial, r.x)
		addScaled(r.trial, step, r.direction)
		value := r.f.Value(r.trial)
		if math.IsNaN(value) || math.IsInf(value, 0) {
			step /= 2
			continue
		}
		if value <= r.value+sufficientDecrease*step*r.slope+valueNoise*math.Abs(r.value) {
			if floats.Equal(r.trial, r.x) {
				return false
			}
			r.idle++
			if value < r.value {
				r.idle = 0
			}
			r.value = value
			return true
		}
		model := -r.slope * step * step / (2 * (value - r.value - step*r.slope)) // the parabola's minimum
		step = math.Min(math.Max(model, step/10), step/2)
	}
	return false
}

// accept makes the trial point the iterate.
func (r *run) accept() {
	r.f.GradientTo(r.trialGradient)
	p := r.pairs.nextPair()
	subTo(p.s, r.trial, r.x)
	subTo(p.y, r.trialGradient, r.gradient)
	r.step, r.change = p.s, p.y
	r.pairs.push()
	copy(r.x, r.trial)
	r.gradient, r.trialGradient = r.trialGradient, r.gradient
	r.count++
}

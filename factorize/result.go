package factorize

import (
	"errors"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"mafalda/optim"
	"mafalda/strategy"
)

// Options tunes a search. The zero value asks for the defaults named here.
type Options struct {
	Gap           float64       `in:"[0,)"` // stop at this certified relative gap; 0 means Kind.DefaultGap; at least MinGap
	MaxIterations int           `in:"[0,)"` // iterations of each descent; 0 means 2000, and less where the search has many
	Start         *mat.SymDense // X to start from, T×T, as CᵀC of a similar problem; nil: a guess; not for series
	LowerBound    float64       // bound for a schema whose patterns overlap, if it is known already; 0: computed
	Progress      Progress      // hears how far the search is, if not nil
}

// Progress is called during a search, one call at a time, in order, and the search waits for it.
type Progress func(Iteration)

// Iteration is what Progress sees.
type Iteration struct {
	// Count is the number of iterations, of those descents that ended where several go on side by side, or of the
	// rounds of WorstStep and LastStep.
	Count int
	Loss  float64 // loss of the current iterate, or of the best in this round; 0 if it is not known yet
	// LowerBound is the best so far, 0 before the first check, and where there is no certificate. Where patterns
	// overlap it bounds only the search, which excludes every X with entries between participations; Result.LowerBound
	// is the bound for the schema.
	LowerBound float64
	Gap        float64 // (Loss - LowerBound)/LowerBound; +Inf while there is no bound

	// X is the iterate, T×T row by row: what Options.Start takes. It is read only, valid during the call, and nil
	// where the search is not over X.
	X []float64

	Done, Total int // descents that are done of those in this round; 0 of 0 where there is only one
}

// Result is the end of a search.
type Result struct {
	Strategy   strategy.Strategy // sens² ≤ 1, up to rounding equal
	Quality                      // quality of Strategy, by the objective
	LowerBound float64           // no strategy whatsoever has a smaller loss; 0: no bound was proven
	ClassBound float64           // nor has one of the class, with its parameters; 0: none but LowerBound
	Gap        float64           // (Loss - Bound)/Bound, certified; +Inf if no bound was proven
	Weights    []float64         // WorstStep: of the steps, Σ = 1; the weighted mean of the errors proves LowerBound
	Iterations int               // iterations of all starts together

	// Status is Converged if Gap is at most the one asked for, and where patterns overlap if that within mask and
	// budgets is. Without a certificate it is how the descent to Strategy ended.
	Status optim.Status
}

// Bound returns the largest loss that no strategy of the class is proven to be below.
func (r *Result) Bound() float64 { return math.Max(r.LowerBound, r.ClassBound) }

// ErrUnsupported is strategy.ErrUnsupported.
var ErrUnsupported = strategy.ErrUnsupported

// ErrGram is wrapped by errors about a Gram matrix that cannot be factorized.
var ErrGram = errors.New("factorization of the Gram matrix")

// MinGap returns the smallest gap that can be asked for with T steps: twice what the certificate gives away to
// rounding.
func MinGap(steps int) float64 { return 2 * certificateSlack(steps) }

// GapOf returns (loss - bound)/bound, +Inf without a bound.
func GapOf(loss, bound float64) float64 {
	if bound == 0 {
		return math.Inf(1)
	}
	return (loss - bound) / bound
}

// rounds calls Progress for descents that go on side by side.
type rounds struct {
	progress Progress

	mutex       sync.Mutex
	iterations  int
	best        float64
	done, total int
}

// begin starts a round of descents, whose number it takes.
func (r *rounds) begin(descents int) { r.best, r.done, r.total = math.Inf(1), 0, descents }

// countDescent counts one of them, which came down to a loss with these iterations; 0: the loss is not known.
func (r *rounds) countDescent(iterations int, loss float64) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.done++
	r.iterations += iterations
	if loss > 0 {
		r.best = math.Min(r.best, loss)
	}
	if r.progress == nil {
		return
	}
	it := Iteration{Count: r.iterations, Loss: r.best, Gap: math.Inf(1), Done: r.done, Total: r.total}
	if math.IsInf(it.Loss, 1) {
		it.Loss = 0
	}
	r.progress(it)
}

// limit returns a number of iterations, or the one that is asked for, if that is smaller.
func (o Options) limit(iterations int) int {
	if o.MaxIterations > 0 {
		return min(iterations, o.MaxIterations)
	}
	return iterations
}

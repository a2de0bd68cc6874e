package spacetime

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
	"mafalda/internal/fault"
	"mafalda/optim"
	"mafalda/secrets"
	"mafalda/strategy"
)

// Optimize alternates between the strategy for the noise over the nodes and the noise for the strategy, beginning with
// the best strategy for noise that is not shared. It ends when the noise of a round is within Gap of the best for the
// strategy that was made for it: the pair is then stationary, and neither half can be bettered by more than its gap.
//
// When ctx ends first, the last pair is returned with Status optim.Interrupted, and the context's error where it has
// none yet. What is lost then is what a State does not have: the steps of the half that was under way, where that is a
// strategy. It fails with fault.Argument, and as the class, the workload and Space do.
func Optimize(ctx context.Context, p Problem, o Options) (*Result, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	a := &alternation{problem: p, opts: o, result: &Result{}}
	if err := a.begin(ctx); err != nil {
		return nil, err
	}
	for {
		ended, err := a.spaceHalf(ctx)
		if err != nil || ended {
			return a.end(ctx, err)
		}
		settled, err := a.timeHalf(ctx)
		if err != nil || settled {
			return a.end(ctx, err)
		}
		a.round++
	}
}

// alternation is one call of Optimize.
type alternation struct {
	problem  Problem
	opts     Options
	search   *spaceSearch
	strategy strategy.Strategy // strategy for the noise below
	time     *factorize.Result // result of the last round that found a strategy; nil: none
	noise    *secrets.Noise    // nil: not shared
	round    int               // number of the round under way
	least    float64           // gap of the noise of a round; 0: none yet
	idle     int               // rounds in a row whose search stalled, without a smaller gap
	result   *Result
}

// begin finds the strategy for noise that is not shared, or takes up a state.
func (a *alternation) begin(ctx context.Context) (err error) {
	a.round = 1
	a.result.LDP, err = a.problem.timeStrategy(ctx, a.problem.Alone(), a.timeOptions(0))
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a.strategy = a.result.LDP.Strategy
	var start *Point
	if s := a.opts.State; s != nil {
		steps := a.problem.Workload.Steps()
		if s.Round < 1 || len(s.X) != steps*steps {
			return fault.New("State", nil, "is not one of this problem")
		}
		if a.strategy, err = strategy.FromGram(mat.NewSymDense(steps, s.X)); err != nil {
			return fault.New("State", nil, "is not one of this problem: %v", err)
		}
		a.round, start = s.Round, &s.Space
	}
	k, err := a.problem.spaceGram(ctx, a.strategy)
	if err != nil {
		return err
	}
	options, err := SpaceOptions{Gap: a.spaceGap(a.round), Start: start}.withDefaults()
	if err != nil {
		return err
	}
	a.search, err = newSpaceSearch(k, a.problem.Setting, options)
	return err
}

// spaceGap is the gap at which the noise of a round is good enough: the strategy of the first ones is not yet the last.
func (a *alternation) spaceGap(round int) float64 {
	return math.Max(a.opts.Gap/10, math.Pow(0.03, float64(round)))
}

// timeOptions returns the options for the search over strategies in a round.
func (a *alternation) timeOptions(round int) factorize.Options {
	o := factorize.Options{Gap: a.opts.TimeGap}
	if round > 0 {
		o.Start = strategy.GramOf(a.strategy)
	}
	if a.opts.Progress != nil {
		o.Progress = func(it factorize.Iteration) { a.opts.Progress(Iteration{round, false, it, nil}) }
	}
	return o
}

// spaceHalf finds the noise for the strategy. It reports that the rounds have ended: where the noise that the strategy
// was made for is as good, or no worse than what a search finds that is stuck, there have been enough, or the context has
// ended.
func (a *alternation) spaceHalf(ctx context.Context) (ended bool, err error) {
	if a.opts.Progress != nil {
		x := strategy.GramOf(a.strategy)
		gram := mat.DenseCopyOf(x).RawMatrix().Data
		a.search.opts.Progress = func(it factorize.Iteration, at Point) {
			a.opts.Progress(Iteration{a.round, true, it, &State{a.round, at, gram}})
		}
	}
	steps := a.search.iterations
	a.search.run(ctx)
	a.result.Rounds = append(a.result.Rounds, Round{Loss: a.search.loss, SpaceSteps: a.search.iterations - steps})
	if ctx.Err() != nil {
		return true, nil
	}
	if a.noise != nil {
		k := a.search.gram
		loss := Loss(k, a.noise)
		stuck := a.search.kept != nil && a.search.status == optim.Stalled && loss <= a.search.loss*(1+a.opts.Gap)
		gap := factorize.GapOf(loss, a.search.bound)
		if stuck || gap <= a.opts.Gap || a.round > a.opts.Rounds || a.circles(gap) {
			return true, nil
		}
	}
	a.noise = a.search.scaledNoise()
	return false, nil
}

// circles reports whether rounds no longer lead anywhere: arithmetic finds no better noise, and has not for some of them.
func (a *alternation) circles(gap float64) bool {
	const patience = 3
	if a.search.status != optim.Stalled || a.least == 0 || gap < 0.9*a.least {
		a.least, a.idle = gap, 0
		return false
	}
	a.idle++
	return a.idle >= patience
}

// timeHalf finds the strategy for the noise, and what that makes of the workload. It reports that the rounds have ended:
// where the noise is shown to be as good for this strategy as for the one before, by what has proven that.
func (a *alternation) timeHalf(ctx context.Context) (settled bool, err error) {
	r, err := a.problem.timeStrategy(ctx, a.noise.Covariance(), a.timeOptions(a.round))
	if err != nil {
		return false, err
	}
	a.strategy, a.time = r.Strategy, r
	last := &a.result.Rounds[len(a.result.Rounds)-1]
	last.Loss, last.TimeSteps = r.Loss, r.Iterations
	k, err := a.problem.spaceGram(ctx, a.strategy)
	if err != nil {
		return false, err
	}
	if ctx.Err() != nil {
		return true, nil
	}
	bound := a.search.dual.bound(newDesign(k, a.problem.Setting))
	gap := factorize.GapOf(Loss(k, a.noise), bound)
	if gap <= a.opts.Gap {
		return true, nil
	}
	a.search.opts.Gap = a.spaceGap(a.round + 1)
	return false, a.search.aim(k, math.Min(gap, 1))
}

// finalStrategy returns the strategy for the noise of the result. That noise is the one of the last round but for its
// scale: where a class has no certificate its search may end elsewhere, with noise that is not the best for it, and the
// strategy of that round is measured again instead.
func (a *alternation) finalStrategy(ctx context.Context, o factorize.Options) (*factorize.Result, error) {
	m := a.result.Noise.Covariance()
	if a.time == nil || a.problem.Class.Traits().Certified {
		return a.problem.timeStrategy(ctx, m, o)
	}
	h, err := a.problem.Workload.TimeGram(ctx, m)
	if err != nil {
		return nil, err
	}
	last := *a.time
	last.Quality, err = factorize.Evaluate(last.Strategy, factorize.Mean(h), a.problem.Schema)
	return &last, err
}

// end proves the noise, makes the strategy for exactly that noise, and certifies both.
func (a *alternation) end(ctx context.Context, err error) (*Result, error) {
	interrupted := ctx.Err() != nil
	if err != nil && !interrupted {
		return nil, err
	}
	if a.noise == nil {
		if interrupted {
			return nil, context.Cause(ctx)
		}
		a.noise = a.search.scaledNoise()
	}
	r, ctx := a.result, context.WithoutCancel(ctx)
	if r.Noise, r.Worst, err = Normalize(ctx, a.noise, a.problem.Attackers); err != nil {
		return nil, err
	}
	o := a.timeOptions(a.round)
	if interrupted {
		o.MaxIterations = 1
	}
	if r.Time, err = a.finalStrategy(ctx, o); err != nil {
		return nil, err
	}
	k, err := a.problem.spaceGram(ctx, r.Time.Strategy)
	if err != nil {
		return nil, err
	}
	loss := Loss(k, r.Noise)
	if apart := math.Abs(loss - r.Time.SquaredError); apart > 1e-9*loss+lossRounding*lossTerms(k, r.Noise) {
		return nil, fmt.Errorf("%w: its error is %v over the nodes and %v over the steps", ErrSpace, loss,
			r.Time.SquaredError)
	}
	r.Loss = r.Time.Loss
	r.SpaceBound = a.search.dual.bound(newDesign(k, a.problem.Setting))
	r.SpaceGap = factorize.GapOf(r.Loss, r.SpaceBound)
	switch {
	case interrupted:
		r.Status = optim.Interrupted
	case r.SpaceGap > a.opts.Gap:
		r.Status = optim.IterationLimit
		if a.round <= a.opts.Rounds {
			r.Status = optim.Stalled
		}
	case a.problem.Class.Traits().Certified:
		r.Status = r.Time.Status
	default: // a class without a certificate promises nothing that a descent could miss
		r.Status = optim.Converged
	}
	return r, nil
}

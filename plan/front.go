package plan

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"mafalda/factorize"
	"mafalda/internal/fault"
	"mafalda/internal/rounding"
	"mafalda/participation"
)

// MemoryFront is what memory at a node buys: errors at an (ε, δ) of strategies that keep more or fewer numbers, with
// batches in turn and, where it can be accounted for, with batches drawn in secret by Poisson sampling.
type MemoryFront struct {
	Problem Problem
	Options Options
	Budget  Budget   // its Memory is +Inf if there is no limit
	Choices []Choice // strategies for batches in turn, then in secret, each by ascending memory

	// Best is the choice of least memory whose error is at most Near times the least error within the budget, and
	// BestInTurn the same among choices for batches in turn.
	Best, BestInTurn Choice

	// Optimum is the error of the dense optimum for batches in turn, which no strategy for these is below by more than
	// its gap.
	Optimum float64
	// NoPoisson says why nothing is known of secret batches; nil if something is.
	NoPoisson error
}

// Near is how far, relatively, the error of the best choice may be above the least, for the sake of memory.
const Near = 1.01

// nearOptimum is how far above the least loss of all the strategies end at which more memory is looked at; then comes
// the optimum itself.
const nearOptimum = 1e-3

// Choice is a strategy on the way from the least memory to the least error.
type Choice struct {
	Price
	// Front: no choice that was found for the same sampling needs as little memory and has a smaller error. Others were
	// looked at, and are worse.
	Front bool `json:"front"`
}

// FindMemoryFront measures strategies of all classes for a case with a privacy target (ε, δ) and a Budget, whose Dim
// is needed in any case; without a limit its Memory is +Inf. Secret batches are left out where the case denies them.
// For batches in turn it looks at the numbers of memories, for secret ones at every number of bands up to the best,
// which is proven to be the best. It fails as Check and pld.Calibrate do.
func FindMemoryFront(ctx context.Context, c Case) (*MemoryFront, error) {
	p, o := c.Problem, c.Options
	s, err := prepareFront(p, o)
	if err != nil {
		return nil, err
	}
	a := &MemoryFront{Problem: p, Options: o, Budget: *o.Budget}
	secret := o
	secret.Sampling, secret.Budget = participation.Poisson, nil
	a.NoPoisson = cmp.Or(fault.If(c.Secret == No, "Sampling", nil, knownDraws), p.Check(secret))
	most := s.schema().Steps()
	if b := a.Budget; !math.IsInf(b.Memory, 1) {
		most = b.Floats()
	}
	err = runSteps(ctx, func(context.Context) error { return p.checkNetwork() }, s.measures,
		func(ctx context.Context) error { return s.inTurn(ctx, a, most) },
		func(ctx context.Context) error { return s.inSecret(ctx, a, most) })
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("looking at strategies: %w", ctx.Err())
	}
	return a, err
}

// CheckMemoryFront refuses, before any work, what FindMemoryFront refuses; a network may be missing.
func CheckMemoryFront(c Case) error {
	_, err := prepareFront(c.Problem, c.Options)
	return err
}

// prepareFront returns the job of a problem and options that FindMemoryFront takes.
func prepareFront(p Problem, o Options) (*job, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	switch w := o.Privacy; {
	case w == nil || w.Epsilon == 0 || w.Delta == 0:
		return nil, fault.New("Epsilon", nil, "errors are compared at a privacy: [Epsilon] and [Delta] are needed")
	case o.Budget == nil:
		return nil, fault.New("Dim", nil, "[Dim] is needed: how many parameters has the model?")
	case o.Class != nil || o.Sampling != participation.InTurn:
		return nil, fault.New("Class", nil, "all classes are looked at, with every sampling that there is an accountant for")
	}
	if err := p.refuse(o, nodeLevels|otherObjective|severalStrategies|sharedNoise|unknownFamily|manySteps, "what memory buys"); err != nil {
		return nil, err
	}
	if err := o.Budget.checkDim(); err != nil {
		return nil, err
	}
	o.Budget = nil
	return prepare(p, o)
}

// inTurn adds the choices for batches in turn.
func (s *job) inTurn(ctx context.Context, a *MemoryFront, most int) error {
	s.show("optimum in turn", 0)
	optimum, err := s.dense(ctx, participation.Relaxation(s.schema()), factorize.Options{Gap: s.Options.Tolerance})
	if err != nil {
		return err
	}
	search := &classSearch{objective: s.objective(), schema: s.schema(), bound: optimum.LowerBound,
		gap: s.Options.Tolerance, enough: nearOptimum, progress: s.show}
	if err := search.front(ctx, most); err != nil {
		return err
	}
	all := search.found
	if steps := s.schema().Steps(); participation.IsPartition(s.schema()) {
		if a.Optimum, err = cyclicError(optimum, a.Options.Privacy); err != nil {
			return err
		}
		if most >= steps && !search.settled(steps) {
			all = append(all, Fitting{factorize.Dense{}, optimum})
		}
	}
	var choices []Choice
	for _, f := range all {
		e, err := cyclicNoise(f.Result, a.Options.Privacy)
		if err != nil {
			return err
		}
		choices = append(choices, Choice{Price: priceOf(participation.InTurn, f.Class, f.Result, e, f.Result.SquaredError)})
	}
	if len(choices) == 0 {
		return fmt.Errorf("no strategy fits %.0f bytes", a.Budget.Memory)
	}
	a.BestInTurn = a.add(choices)
	a.Best = a.BestInTurn
	return nil
}

// cyclicNoise is the standard deviation of the noise for a strategy for batches in turn, in units of the clip.
func cyclicNoise(of *factorize.Result, wanted *Privacy) (float64, error) {
	p, err := wanted.calibrate(rounding.SqrtUp(of.Sensitivity.Squared))
	if err != nil {
		return 0, err
	}
	return p.NoiseStd / p.Clip, nil
}

// inSecret adds the choices with Poisson sampling, if it is accounted for: all numbers of bands up to the best.
func (s *job) inSecret(ctx context.Context, a *MemoryFront, most int) error {
	if a.NoPoisson != nil {
		return nil
	}
	s.show("optimum in secret", 0)
	optimum, err := s.dense(ctx, participation.Single(s.schema()), factorize.Options{Gap: s.bandGap()})
	if err != nil {
		return err
	}
	search, table := s.bandSearch(s.objective(), optimum.LowerBound)
	search.Progress = s.counts("numbers of bands, in secret")
	search.AtMost(most + 1)
	if err := search.Run(ctx); err != nil {
		return fmt.Errorf("searching for the best number of bands: %w", err)
	}
	best, _ := search.Best()
	target := s.Options.Privacy.Target
	choices := make([]Choice, best.Bandwidth)
	for i := range choices {
		s.counts("fewer bands, in secret")(i, best.Bandwidth)
		c, err := table.At(ctx, i+1, target.Epsilon, target.Delta)
		if err != nil {
			return err
		}
		of, err := table.Strategy(ctx, i+1)
		if err != nil {
			return err
		}
		choices[i].Price = priceOf(participation.Poisson, factorize.Banded{Bandwidth: i + 1}, of, c.NoiseMultiplier, c.SquaredError)
	}
	if near := a.add(choices); near.ErrorAtPrivacy < a.Best.ErrorAtPrivacy {
		a.Best = near
	}
	return nil
}

// add adds choices for one sampling by memory, marks those that nothing with as little memory is better than, and returns the
// one of least memory that is nearly the best.
func (a *MemoryFront) add(choices []Choice) Choice {
	slices.SortStableFunc(choices, func(x, y Choice) int {
		return cmp.Or(cmp.Compare(x.Floats, y.Floats), cmp.Compare(x.ErrorAtPrivacy, y.ErrorAtPrivacy))
	})
	least := math.Inf(1)
	for i := range choices {
		if choices[i].Front = choices[i].ErrorAtPrivacy < least; choices[i].Front {
			least = choices[i].ErrorAtPrivacy
		}
	}
	a.Choices = append(a.Choices, choices...)
	return choices[slices.IndexFunc(choices, func(c Choice) bool { return c.Front && c.ErrorAtPrivacy <= Near*least })]
}

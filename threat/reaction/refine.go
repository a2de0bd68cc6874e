package reaction

import (
	"context"
	"math"
)

// search looks for multipliers that make the bound for one pattern small.
type search struct {
	*bounder
	pattern []int
	enough  float64 // a bound that is small enough
	bound   float64 // the least so far
	single  [][]float64
	why     string
	leader  *trace      // the trace whose feedback the next run follows
	best    [][]float64 // multipliers of the least bound
}

// refine returns the least proven bound for one pattern that is found, or one that is at most enough, and what single
// participations cost; why says what kept rounds from proving something. Every stage goes on from what was best before it.
func (b *bounder) refine(ctx context.Context, pattern []int, enough float64) (bound float64, single [][]float64,
	why string, err error) {
	s := &search{bounder: b, pattern: pattern, enough: enough, bound: math.Inf(1)}
	for _, stage := range []func(context.Context) error{s.begin, s.follow, s.balance, s.descend} {
		if err = stage(ctx); err != nil || s.best == nil || raise(s.bound) <= enough {
			break
		}
	}
	s.leader.release()
	return raise(s.bound), s.single, s.why, err
}

// try goes backward with multipliers as chosen, and keeps the trace as the leader if the bound is the least so far.
func (s *search) try(ctx context.Context, choose chooser) (better bool, err error) {
	tr, err := s.pass(ctx, choose)
	if tr == nil || tr.bound > s.bound {
		tr.release()
		return false, err
	}
	s.leader.release()
	s.leader = tr
	return true, nil
}

// pass goes backward with multipliers as chosen. It returns nil if they prove nothing.
func (s *search) pass(ctx context.Context, choose chooser) (*trace, error) {
	tr, why, err := s.prove(ctx, s.pattern, choose)
	if tr == nil {
		s.why = why
		return nil, err
	}
	s.single = lesser(s.single, tr.single)
	if tr.bound < s.bound {
		s.bound, s.best = tr.bound, make([][]float64, len(tr.prices))
		for t, p := range tr.prices {
			s.best[t] = p.d
		}
	}
	return tr, nil
}

// begin makes multipliers in closed form of a run with linear answers. Where they may have something on top, all extras
// are tried, first the one that was best for the victim before.
func (s *search) begin(ctx context.Context) error {
	run := s.forward(s.first, s.linear, s.pattern, 1, s.centred)
	return s.extras(ctx, func(extra float64) chooser { return runChooser(run, 1, extra) })
}

// extras tries multipliers with all extras, and keeps the best one.
func (s *search) extras(ctx context.Context, choose func(extra float64) chooser) error {
	for _, extra := range extras(s.memory(), s.extra) {
		better, err := s.try(ctx, choose(extra))
		if err != nil || raise(s.bound) <= s.enough {
			return err
		}
		if better {
			s.extra = extra
		}
	}
	return nil
}

// follow makes multipliers in closed form of worse and worse runs.
func (s *search) follow(ctx context.Context) error {
	run := s.forward(s.leader, s.answers, s.pattern, 1, s.steep)
	for round := 1; round < rounds && raise(s.bound) > s.enough; round++ {
		tr, err := s.pass(ctx, runChooser(run, 1, s.extra))
		if tr == nil {
			return err
		}
		run = s.forward(tr, s.answers, s.pattern, 1, s.steep)
		if tr.bound == s.bound {
			s.leader, tr = tr, s.leader
		}
		tr.release()
	}
	return nil
}

// balance makes balanced multipliers of worse and worse runs while they gain.
func (s *search) balance(ctx context.Context) error {
	run := s.forward(s.leader, s.answers, s.pattern, dimensions, s.costliest)
	choose := func(extra float64) chooser {
		return func(t int, at *stepCost) multipliers { return at.balanced(run[t], extra) }
	}
	for before := math.Inf(1); s.bound < before*(1-worthGoingOn) && raise(s.bound) > s.enough; {
		before = s.bound
		if err := s.extras(ctx, choose); err != nil {
			return err
		}
		run = s.forward(s.leader, s.answers, s.pattern, dimensions, s.costliest)
	}
	return nil
}

// worthGoingOn is what a round must gain for another one.
const worthGoingOn = 1e-4

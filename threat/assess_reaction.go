package threat

import (
	"context"
	"math"
)

// react replaces what was found, which is of gradients that do not react to models, by what the options' Reaction lets
// be proven.
func (a *assessment) react(ctx context.Context) error {
	o := a.options
	h, err := a.scenario.hidden(ctx, o.Local)
	if err != nil {
		return err
	}
	bounds := h.local
	if o.Reaction.classed() {
		if bounds, a.why, err = h.all(ctx, o.Reaction); err != nil {
			return err
		}
	}
	for i := range a.found {
		f := &a.found[i]
		linear := f.pair
		if o.Reaction.Kind != FixedInputs {
			if hops := a.hops[f.victim]; hops >= 0 {
				f.pair.Distance = &hops // also where the view is unclear
			}
			if err := a.bound(f, bounds[f.victim]); err != nil {
				return err
			}
			f.pair.WithoutReaction = linear.SensSquared
			if bounds[f.victim] < h.local[f.victim] {
				f.pair.Bound = AllPairs
			}
		}
		if local := h.local[f.victim]; !math.IsInf(local, 1) {
			f.pair.Local = &local
		}
	}
	if o.Refine && h.system != nil {
		return a.refine(ctx, h)
	}
	return nil
}

// bound gives a pair another squared sensitivity, and the privacy that follows.
func (a *assessment) bound(f *finding, squared float64) error {
	p, err := a.options.guarantee(squared)
	f.pair.SensSquared, f.pair.Infinite, f.pair.Mu, f.pair.RDP, f.pair.Epsilon = p.SensSquared, p.Infinite, p.Mu, p.RDP, p.Epsilon
	return err
}

// refine looks again, at each distance, at the pair that loses most, until that has its best bound.
func (a *assessment) refine(ctx context.Context, h *hidden) error {
	refined := map[int]bool{} // by victim
	for {
		most := map[int]*finding{} // by distance
		for i := range a.found {
			f := &a.found[i]
			if best := most[f.pair.hops()]; best == nil || squaredOf(f) > squaredOf(best) {
				most[f.pair.hops()] = f
			}
		}
		more := false
		for _, f := range most {
			if refined[f.victim] || squaredOf(f) == 0 {
				continue
			}
			refined[f.victim], more = true, true
			if err := a.refinePair(ctx, h, f); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
	}
}

func squaredOf(f *finding) float64 {
	if f.pair.SensSquared == nil {
		return math.Inf(1)
	}
	return *f.pair.SensSquared
}

// refinePair gives a pair its best bound and, if it is asked for, the attack on it.
func (a *assessment) refinePair(ctx context.Context, h *hidden, f *finding) error {
	answers, err := a.options.Reaction.in(h.system)
	if err != nil {
		return err
	}
	r, err := h.refine(ctx, answers, f.victim, a.options.Worst)
	if err != nil {
		return err
	}
	before, local := squaredOf(f), h.local[f.victim]
	squared := math.Min(before, r.SensSquared)
	if r.WorstAnswer > squared*(1+1e-9) {
		squared = local // an attack reaches more than rounding lets a bound say
	}
	if err := a.bound(f, squared); err != nil {
		return err
	}
	f.pair.Bound = Refined
	if squared >= local {
		f.pair.Bound, f.pair.Why = LocalDP, r.Why
	}
	if worst := math.Min(r.WorstAnswer, squared); a.options.Worst && worst > 0 {
		f.pair.Worst = &worst
	}
	return nil
}

package threat

import (
	"context"
	"math"

	"mafalda/threat/reaction"
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
			if a.unknown == "" {
				f.pair.WithoutReaction = linear.SensSquared
			}
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
	p, err := a.options.guarantee(squared, a.scenario.Algorithm.Sigma(f.victim, a.options.Sigma))
	f.pair.SensSquared, f.pair.Infinite, f.pair.Mu, f.pair.RDP, f.pair.Epsilon = p.SensSquared, p.Infinite, p.Mu, p.RDP, p.Epsilon
	return err
}

// refine looks again, at each distance, at the pair that loses most, until that has its best bound: first with what stands
// for a strategy and is quick, if there is more, then with all.
func (a *assessment) refine(ctx context.Context, h *hidden) error {
	stands, err := h.stands()
	if err != nil {
		return err
	}
	class, _, err := a.options.Reaction.Class()
	if err != nil {
		return err
	}
	looks := map[int]int{} // of each victim
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
			if looks[f.victim] >= max(1, len(stands)) || squaredOf(f) == 0 || class.Nearest() == 1 && f.exposed(h) && !a.options.Worst {
				continue
			}
			var now []reaction.Stand
			if look := looks[f.victim]; look < len(stands) {
				now = stands[look : look+1]
			}
			looks[f.victim]++
			more = true
			if err := a.refinePair(ctx, h, f, now); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
	}
}

// exposed reports whether the attacker learns as much as local DP allows even if nobody reacts.
func (f *finding) exposed(h *hidden) bool {
	without := f.pair.WithoutReaction
	return without != nil && *without >= h.local[f.victim]*(1-1e-9)
}

func squaredOf(f *finding) float64 {
	if f.pair.SensSquared == nil {
		return math.Inf(1)
	}
	return *f.pair.SensSquared
}

// refinePair gives a pair its best bound and, if it is asked for, the attack on it.
func (a *assessment) refinePair(ctx context.Context, h *hidden, f *finding, stands []reaction.Stand) error {
	answers, err := a.options.Reaction.in(h.system)
	if err != nil {
		return err
	}
	r, err := h.refine(ctx, answers, stands, f.victim, a.options.Worst)
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
		if before := f.pair.Worst; before == nil || *before < worst || *before > squared {
			f.pair.Worst = &worst
		}
	}
	return nil
}

package threat

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"mafalda/internal/lists"
	"mafalda/threat/reaction"
)

// react replaces what was found, which is of gradients that do not react to models, by what the options' Reaction lets
// be proven.
func (a *assessment) react(ctx context.Context) error {
	o := a.options
	h, err := a.scenario.hidden(o.Local, o.Reaction.answers)
	if err != nil {
		return err
	}
	bounds := h.local
	if o.Reaction.classed() {
		if bounds, a.why, err = h.all(ctx); err != nil {
			return err
		}
	}
	for _, f := range a.found {
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
		if local := h.always[f.victim]; !math.IsInf(local, 1) {
			f.pair.Local = &local
		}
	}
	if (o.Refine || o.Worst) && h.Victims != nil {
		if err := a.refine(ctx, h); err != nil {
			return err
		}
	}
	if !a.scenario.Algorithm.Training().Drawn() {
		return nil
	}
	for _, f := range a.found { // all this was of one draw
		p := &f.pair
		p.DrawnSensSquared, p.DrawnMu, p.DrawnEpsilon, p.DrawnBound = p.SensSquared, p.Mu, p.Epsilon, p.Bound
		p.Bound = LocalDP
		if err := a.bound(f, h.always[f.victim]); err != nil {
			return err
		}
	}
	return nil
}

// bound gives a pair another squared sensitivity, and the privacy that follows.
func (a *assessment) bound(f *finding, squared float64) error {
	p, err := a.options.guarantee(squared, a.scenario.Algorithm.Sigma(f.victim, a.options.Sigma))
	f.pair.SensSquared, f.pair.Infinite, f.pair.Mu, f.pair.RDP, f.pair.Epsilon = p.SensSquared, p.Infinite, p.Mu, p.RDP, p.Epsilon
	return err
}

// refine looks again, at each distance, at the pair that loses most, until that has its best bound: first in the quickest
// way, then in all. Then it looks for attacks on these pairs. Either is left out if it is not asked for.
func (a *assessment) refine(ctx context.Context, h *hidden) error {
	class, _, err := a.options.Reaction.Class()
	if err != nil {
		return err
	}
	looks, best := map[int]int{}, map[int]*reaction.Result{} // of each victim
	for more := a.options.Refine; more; {
		more = false
		pairs := a.found
		if !a.options.everyPair {
			pairs = a.worst()
		}
		for _, f := range pairs {
			if looks[f.victim] >= h.Looks() || squaredOf(f) == 0 || class.Nearest() == 1 && f.exposed(h) && !a.options.Worst {
				continue
			}
			enough := 0.0 // of pairs that are not the worst
			for _, g := range a.found {
				if !a.options.everyPair && g.pair.hops() == f.pair.hops() && looks[g.victim] >= h.Looks() {
					enough = math.Max(enough, squaredOf(g))
				}
			}
			r, err := h.Bound(ctx, h.victim(f.victim), looks[f.victim], enough)
			if err != nil {
				return err
			}
			looks[f.victim]++
			more = true
			if before := best[f.victim]; before == nil || r.SensSquared < before.SensSquared {
				best[f.victim] = r
			}
			if err := a.refined(f, r, h.local[f.victim]); err != nil {
				return err
			}
		}
	}
	if !a.options.Worst {
		return nil
	}
	for _, f := range a.worst() {
		if err := a.attack(ctx, h, best, f); err != nil {
			return err
		}
	}
	return nil
}

// attack attacks the pair that loses most at a distance, and, where attacks are quick, all that were refined, those with
// larger bounds first, until no bound is above what attacks reach.
func (a *assessment) attack(ctx context.Context, h *hidden, best map[int]*reaction.Result, worst *finding) error {
	pairs := []*finding{worst}
	for _, f := range a.found {
		if f != worst && f.pair.hops() == worst.pair.hops() && best[f.victim] != nil && h.Exact() {
			pairs = append(pairs, f)
		}
	}
	slices.SortStableFunc(pairs, func(f, g *finding) int { return cmp.Compare(squaredOf(g), squaredOf(f)) })
	reached := 0.0
	for _, f := range pairs {
		r, local := best[f.victim], h.local[f.victim]
		if squaredOf(f) <= reached {
			return nil
		}
		if r == nil {
			r = &reaction.Result{SensSquared: squaredOf(f), LocalDP: local}
		}
		if err := h.Attack(ctx, h.victim(f.victim), r); err != nil {
			return err
		}
		if err := a.attacked(f, r, local); err != nil {
			return err
		}
		reached = math.Max(reached, r.WorstAnswer)
	}
	return nil
}

// worst returns the pair that loses most at each distance, from near to far, as what is found first tells where to look
// next; of pairs that lose as much, as do all with local DP, the one that loses most if gradients do not react.
func (a *assessment) worst() []*finding {
	most := map[int]*finding{}
	for _, f := range a.found {
		best := most[f.pair.hops()]
		if best == nil || squaredOf(f) > squaredOf(best) || squaredOf(f) == squaredOf(best) && f.linear() > best.linear() {
			most[f.pair.hops()] = f
		}
	}
	return lists.Map(slices.Sorted(maps.Keys(most)), func(hops int) *finding { return most[hops] })
}

// linear returns what is learned if gradients do not react, 0 where that is not known.
func (f *finding) linear() float64 {
	if f.pair.WithoutReaction == nil {
		return 0
	}
	return *f.pair.WithoutReaction
}

// exposed reports whether the attacker learns as much as local DP allows even if no node reacts.
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

// refined gives a pair a better bound.
func (a *assessment) refined(f *finding, r *reaction.Result, local float64) error {
	squared := math.Min(squaredOf(f), r.SensSquared)
	f.pair.Bound = Refined
	if squared >= local {
		f.pair.Bound, f.pair.Why = LocalDP, r.Why
	}
	return a.bound(f, squared)
}

// attacked gives a pair the attack on it, and local DP where that reaches more than rounding lets a bound say.
func (a *assessment) attacked(f *finding, r *reaction.Result, local float64) error {
	squared := squaredOf(f)
	if r.WorstAnswer > squared*(1+1e-9) {
		squared, f.pair.Bound, f.pair.Why = local, LocalDP, r.Why
		if err := a.bound(f, squared); err != nil {
			return err
		}
	}
	if worst := math.Min(r.WorstAnswer, squared); worst > 0 {
		f.pair.Worst = &worst
	}
	return nil
}

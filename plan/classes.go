package plan

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
	"mafalda/participation"
	"mafalda/strategy"
)

// Fitting is the best strategy of a class with given bands, coefficients or buffers.
type Fitting struct {
	Class  factorize.Class // the class with its parameters
	Result *factorize.Result
}

// Floats returns how many numbers a node keeps for each parameter of its model.
func (f Fitting) Floats() int { return f.Result.Strategy.NodeCost().Floats }

// MaxBuffers is the most buffers, and the most Toeplitz coefficients less one, that are looked at: searches without a
// certificate take long with many, and bands come close to the optimum then.
const MaxBuffers = 24

// classSearch finds, by what a node keeps, the strategies of least loss. What is proven to have no smaller loss than
// one that needs no more is left out:
//
//   - nothing is better than the bound for all strategies;
//   - with w bands, nothing is better than the bound of that class, and a Toeplitz strategy of w coefficients has w
//     bands. A search for bands ends as soon as its bound says so;
//   - a banded inverse of w coefficients, with zeros within the unit circle, is a rational function (BLT) of w-1 poles.
//
// Where patterns do not overlap fewer bands are never better than more, so that the best strategy for a budget has as
// many as fit, or is a rational function or a comb. For these the search is one without a certificate, and a smaller
// one may turn out to be the better. A comb with more than combBuffers buffers is hardly better than with as many.
type classSearch struct {
	objective factorize.Objective
	schema    participation.Schema
	bound     float64 // no strategy has a smaller loss
	gap       float64
	enough    float64 // a front ends at a loss this much above the bound, relatively
	progress  func(phase string, fraction float64)

	found []Fitting     // results in the order of the search
	bands *mat.SymDense // where patterns do not overlap: X of the last bands, whose zeros more bands have, too
}

// least returns the least loss so far of strategies that keep no more numbers; +Inf before there is one.
func (s *classSearch) least(numbers int) float64 {
	least := math.Inf(1)
	for _, f := range s.found {
		if f.Floats() <= numbers {
			least = math.Min(least, f.Result.Loss)
		}
	}
	return least
}

// best returns the strategy of least loss of those that keep at most these numbers. When ctx ends first it is the
// best so far, if one was found.
func (s *classSearch) best(ctx context.Context, numbers int) (Fitting, error) {
	steps := s.schema.Steps()
	numbers = min(numbers, steps)
	most := min(numbers, steps-1)
	look := s.front
	if participation.IsPartition(s.schema) {
		look = s.mostBands
	}
	if err := look(ctx, most); err != nil {
		return Fitting{}, err
	}
	if numbers == steps && !s.settled(numbers) {
		if err := s.add(ctx, factorize.Dense{}, factorize.Options{Gap: s.gap, LowerBound: s.bound}); err != nil {
			return Fitting{}, err
		}
	}
	return s.leastLoss(), nil
}

// leastLoss returns the strategy of least loss of those that were found.
func (s *classSearch) leastLoss() Fitting {
	return slices.MinFunc(s.found, func(a, b Fitting) int {
		return cmp.Or(cmp.Compare(a.Result.Loss, b.Result.Loss), cmp.Compare(a.Floats(), b.Floats()))
	})
}

// bestOf returns the strategy of least loss of some classes.
func (s *classSearch) bestOf(ctx context.Context, classes []factorize.Class) (Fitting, error) {
	for i, c := range classes {
		s.show(c, float64(i)/float64(len(classes)))
		if err := s.add(ctx, c, factorize.Options{}); err != nil {
			return Fitting{}, err
		}
	}
	return s.leastLoss(), nil
}

// longClasses returns the classes to look at for a budget of numbers, with too many steps for bounds of
// classes: few buffers, and the comb with the longest period that fits, b or a divisor of it. As many bands or
// coefficients are worse.
func longClasses(p Problem, numbers int) []factorize.Class {
	schema := p.Schema
	numbers = min(numbers, schema.Steps()-1)
	if numbers < 1 {
		return []factorize.Class{factorize.Toeplitz{Bandwidth: 1}}
	}
	all := []factorize.Class{factorize.BLT{Buffers: min(numbers, combBuffers)}}
	b := schema.Separation()
	if b >= schema.Steps() { // records take part once
		return all
	}
	period := min(b, numbers-1)
	for period > 0 && b%period != 0 {
		period--
	}
	if period < b && numbers > combBuffers {
		all = append(all, factorize.BLT{Buffers: min(numbers, 2*combBuffers)})
	}
	if period > combBuffers {
		c := factorize.Comb{Buffers: min(numbers-period, combBuffers)}
		if p.Workload.CountsAll() {
			c = scaledIfPossible(c, factorize.ManySteps, schema)
		}
		if period < b {
			c.Bandwidth = period
		}
		all = append(all, c)
	}
	return all
}

// mostBands looks at the comb and the most bands that fit, and at all numbers of buffers.
func (s *classSearch) mostBands(ctx context.Context, most int) error {
	if err := s.comb(ctx, min(most, s.schema.Separation()+combBuffers), 0); err != nil {
		return err
	}
	s.show(factorize.Banded{Bandwidth: most + 1}, 0)
	if err := s.bandsOf(ctx, most+1); err != nil {
		return err
	}
	for _, m := range memories(s.schema, most) {
		if s.settled(most) {
			break
		}
		if err := s.series(ctx, m, float64(m)/float64(most+1)); err != nil {
			return err
		}
	}
	return nil
}

// front looks at all classes, from no memory upwards, until more memory can hardly help. What it finds has the strategies
// that nothing with as little memory is better than.
func (s *classSearch) front(ctx context.Context, most int) error {
	all := memories(s.schema, min(most, s.schema.Steps()-1))
	for i, m := range all {
		if s.least(m) <= s.bound*(1+math.Max(s.gap, s.enough)) {
			return nil
		}
		fraction := float64(i) / float64(len(all))
		if err := s.series(ctx, m, fraction); err != nil {
			return err
		}
		if err := s.comb(ctx, m, fraction); err != nil {
			return err
		}
		s.show(factorize.Banded{Bandwidth: m + 1}, fraction)
		if err := s.bandsOf(ctx, m+1); err != nil {
			return err
		}
	}
	return nil
}

func (s *classSearch) show(c factorize.Class, fraction float64) {
	if s.progress != nil {
		s.progress("strategies by memory: "+ClassText(c), fraction)
	}
}

// settled reports whether no strategy is better than those that keep at most these numbers, up to the gap.
func (s *classSearch) settled(numbers int) bool { return s.least(numbers) <= s.bound*(1+s.gap) }

// series looks at the rational functions with this number of buffers.
func (s *classSearch) series(ctx context.Context, numbers int, fraction float64) error {
	if numbers < 1 || numbers > MaxBuffers {
		return nil
	}
	if s.settled(numbers) || s.interrupted(ctx) {
		return nil
	}
	c := factorize.BLT{Buffers: numbers}
	s.show(c, fraction)
	return s.add(ctx, c, factorize.Options{})
}

// combBuffers is the most buffers of the combs that are looked at.
const combBuffers = 4

// comb looks at the comb of period b that fits the budget of numbers, if it has at most combBuffers buffers and more
// rows: a BLT of few buffers has those of a short period.
func (s *classSearch) comb(ctx context.Context, numbers int, fraction float64) error {
	b := s.schema.Separation()
	kind := s.objective.Kind()
	c := scaledIfPossible(factorize.Comb{Buffers: numbers - b}, kind, s.schema)
	if b <= combBuffers || c.Buffers < 1 || c.Buffers > combBuffers || factorize.Supports(c, kind, s.schema) != nil {
		return nil
	}
	if s.settled(numbers) || s.interrupted(ctx) {
		return nil
	}
	s.show(c, fraction)
	return s.add(ctx, c, factorize.Options{})
}

// scaledIfPossible returns the class with scaled columns, which cost no memory, if it has them under the schema.
func scaledIfPossible(c factorize.Comb, k factorize.Kind, schema participation.Schema) factorize.Comb {
	c.ScaleColumns = true
	c.ScaleColumns = factorize.Supports(c, k, schema) == nil
	return c
}

// interrupted reports whether the search is to end with what there is.
func (s *classSearch) interrupted(ctx context.Context) bool {
	return ctx.Err() != nil && len(s.found) > 0
}

// bandsOf looks at w bands, and at as many coefficients if these may be better.
func (s *classSearch) bandsOf(ctx context.Context, w int) error {
	if s.interrupted(ctx) {
		return nil
	}
	best, partition := s.least(w-1), participation.IsPartition(s.schema)
	searching, stop := context.WithCancel(ctx)
	defer stop()
	bound := 0.0
	c := factorize.Banded{Bandwidth: w}
	r, err := c.Optimize(searching, s.objective, s.schema, factorize.Options{Gap: s.gap, Start: s.bands,
		Progress: func(it factorize.Iteration) {
			if !partition {
				return // what the search bounds is not the class under the schema
			}
			if bound = math.Max(bound, it.LowerBound); bound >= best {
				stop()
			}
		}})
	if err != nil {
		return fmt.Errorf("optimizing the strategy of %s: %w", ClassText(c), err)
	}
	if partition {
		s.bands = strategy.GramOf(r.Strategy)
	}
	if bound = math.Max(bound, r.ClassBound); bound >= best {
		return nil
	}
	s.found = append(s.found, Fitting{c, r})
	if w > MaxBuffers+1 || bound*(1+2*s.gap) >= math.Min(best, r.Loss) || s.interrupted(ctx) {
		return nil
	}
	return s.add(ctx, factorize.Toeplitz{Bandwidth: w}, factorize.Options{})
}

// add looks at a class.
func (s *classSearch) add(ctx context.Context, c factorize.Class, o factorize.Options) error {
	r, err := c.Optimize(ctx, s.objective, s.schema, o)
	if err != nil {
		return fmt.Errorf("optimizing the strategy of %s: %w", ClassText(c), err)
	}
	s.found = append(s.found, Fitting{c, r})
	return nil
}

// memories returns, in ascending order and up to a number below T, how many numbers a node may keep to be looked at: 0
// to 4, then each about half as many more, whole periods of b, combs of two and of combBuffers buffers, and the last.
func memories(schema participation.Schema, most int) []int {
	var all []int
	for m := 0; m < most; m = max(m+1, m+m/2) {
		all = append(all, m)
	}
	b := schema.Separation()
	for w := b; w <= most; w *= 2 {
		all = append(all, w-1)
	}
	for _, m := range []int{b + 2, b + combBuffers} {
		if b > combBuffers && m < most {
			all = append(all, m)
		}
	}
	all = append(all, most)
	slices.Sort(all)
	return slices.Compact(all)
}

// ClassText names a class with its parameters, such as "blt, 4 buffers".
func ClassText(c factorize.Class) string {
	text, p := c.Name(), c.Parameters()
	if p.Buffers > 0 {
		text += fmt.Sprintf(", d = %d", p.Buffers)
	}
	if p.Bandwidth > 0 {
		text += fmt.Sprintf(", w = %d", p.Bandwidth)
	}
	if p.ScaleColumns {
		text += ", scaled columns"
	}
	return text
}

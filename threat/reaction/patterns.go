package reaction

import (
	"context"
	"math"
	"slices"

	"mafalda/internal/lists"
	"mafalda/participation"
)

// worst returns the largest over all patterns of the least proven bound for each. Patterns that are too many to list, as
// of min-sep participation, are bounded together by single participations, and pattern is nil.
func (b *bounder) worst(ctx context.Context, v Victim) (value float64, pattern []int, why string, err error) {
	patterns, listed := v.oneByOne()
	if !listed {
		_, single, why, err := b.refine(ctx, []int{0}, 0)
		if err != nil {
			return 0, nil, "", err
		}
		return together(single, b.node, v.Schema), nil, why, nil
	}
	if b.constant() {
		patterns = undominated(patterns)
	}
	bounds, refined, single := make([]float64, len(patterns)), make([]bool, len(patterns)), [][]float64(nil)
	for i, p := range patterns {
		bounds[i] = b.local.pattern(b.node, p)
	}
	enough := b.enough // below it a pattern is not the worst
	for {
		// the pattern with the largest bound: if nothing better can be said of it, it is the worst
		top := 0
		for i := range patterns {
			if single != nil && !refined[i] {
				bounds[i] = math.Min(bounds[i], triangle(single, b.node, patterns[i]))
			}
			if bounds[i] > bounds[top] || bounds[i] == bounds[top] && !refined[i] && patterns[i][0] < patterns[top][0] {
				top = i
			}
		}
		if refined[top] || bounds[top] == 0 {
			return bounds[top], patterns[top], why, nil
		}
		best, table, doubt, err := b.refine(ctx, patterns[top], enough)
		if err != nil {
			return 0, nil, "", err
		}
		if doubt != "" {
			why = doubt
		}
		single = lesser(single, table)
		bounds[top], refined[top] = math.Min(bounds[top], best), true
		enough = math.Max(enough, bounds[top])
	}
}

// patterns returns the patterns of a victim if they can be listed.
func (v Victim) patterns() ([][]int, bool) {
	if s, ok := v.Schema.(interface{ Patterns() [][]int }); ok {
		return s.Patterns(), true
	}
	if v.Schema.Participations() == 1 {
		return lists.Make(v.Schema.Steps(), func(t int) []int { return []int{t} }), true
	}
	return nil, false
}

// maxPatterns is how many patterns of a schema that lists none are looked at one by one.
const maxPatterns = 200

// OneByOne reports whether Bound looks at every pattern of a schema. Else participations add up, which is loose.
func OneByOne(schema participation.Schema) bool {
	_, listed := Victim{Schema: schema}.oneByOne()
	return listed
}

// oneByOne returns the patterns of a victim that are looked at one by one, if they are few.
func (v Victim) oneByOne() ([][]int, bool) {
	if patterns, listed := v.patterns(); listed {
		return patterns, true
	}
	return enumerated(v.Schema)
}

// enumerated returns the patterns of at most k steps at least b apart, which all patterns of a schema are, but for those
// that are a part of others: a record may do nothing in a step, so their bounds are no larger. It returns false if there
// are more than maxPatterns.
func enumerated(schema participation.Schema) (all [][]int, few bool) {
	steps, k, b := schema.Steps(), schema.Participations(), schema.Separation()
	few = true
	var extend func(pattern []int)
	extend = func(pattern []int) {
		from, to := 0, min(b, steps)
		if len(pattern) > 0 {
			from = pattern[len(pattern)-1] + b
			to = min(from+b, steps)
		}
		if left := k - len(pattern); left > 0 && from < steps {
			// a gap of 2b or more has room for one more, unless there are k anyway
			if roomy := steps - (left-1)*b; roomy > to {
				to = roomy
			}
			for t := from; t < to && few; t++ {
				extend(append(slices.Clone(pattern), t))
			}
			return
		}
		if len(pattern) == k || tight(pattern, b) {
			all = append(all, pattern)
			few = few && len(all) <= maxPatterns
		}
	}
	extend(nil)
	return all, few
}

// tight reports whether a pattern has no room for one more step before its end.
func tight(pattern []int, b int) bool {
	if pattern[0] >= b {
		return false
	}
	for i, t := range pattern[1:] {
		if t-pattern[i] >= 2*b {
			return false
		}
	}
	return true
}

// undominated returns the patterns that are no part of another one that begins earlier, when both begin in step 0:
// where all steps are alike those others are as bad, with less time left.
func undominated(patterns [][]int) [][]int {
	var out [][]int
	for i, p := range patterns {
		if !slices.ContainsFunc(patterns, func(q []int) bool {
			return q[0] < p[0] && !slices.ContainsFunc(p, func(t int) bool { return !slices.Contains(q, t-p[0]+q[0]) })
		}) {
			out = append(out, patterns[i])
		}
	}
	return out
}

// triangle returns (Σ √Q_t[u,u])², what the participations of a pattern cost at most, one after the other: first
// without the record in all steps, then with it in the first one, in the first two and so on. Steps after the one that
// changes are always without it, in the class.
func triangle(single [][]float64, node int, pattern []int) float64 {
	sum := 0.0
	for _, t := range pattern {
		if single[t] == nil {
			return math.Inf(1)
		}
		sum += math.Sqrt(raise(single[t][node]))
	}
	return sum * sum * (1 + 1e-12)
}

// together returns the largest triangle over all patterns of at most k steps at least b apart, which all patterns of a
// schema are.
func together(single [][]float64, node int, schema participation.Schema) float64 {
	steps, k, b := schema.Steps(), schema.Participations(), schema.Separation()
	if single == nil {
		return math.Inf(1)
	}
	best := make([]float64, steps+b+1) // of patterns from a step on, of at most as many participations as rounds below
	for range k {
		next := make([]float64, len(best))
		for t := steps - 1; t >= 0; t-- {
			if single[t] == nil {
				return math.Inf(1)
			}
			next[t] = math.Max(next[t+1], math.Sqrt(raise(single[t][node]))+best[t+b])
		}
		best = next
	}
	return best[0] * best[0] * (1 + 1e-12)
}

// Leading returns a pattern of a schema to attack, or to make stand-ins for: its first one, or, if it lists none, steps b
// apart from the first one on.
func Leading(schema participation.Schema) []int {
	if s, ok := schema.(interface{ Patterns() [][]int }); ok {
		return s.Patterns()[0]
	}
	var pattern []int
	for t := 0; t < schema.Steps() && len(pattern) < schema.Participations(); t += schema.Separation() {
		pattern = append(pattern, t)
	}
	return pattern
}

package participation

import (
	"fmt"
	"slices"
)

// Leading returns the schema of the first steps of s: its patterns, cut at that step. A run that ends early, or that
// goes on, has shown what a record did in these steps and nothing else. It fails for steps outside 1..T, and for a
// schema that has neither a list of patterns nor a rule that this function knows.
func Leading(s Schema, steps int) (Schema, error) {
	if steps < 1 || steps > s.Steps() {
		return nil, fmt.Errorf("%w: the first %d of %d steps", ErrSchema, steps, s.Steps())
	}
	if steps == s.Steps() {
		return s, nil
	}
	if people, ok := s.(*People); ok {
		return people.firstSteps(steps)
	}
	fit := min(s.Participations(), (steps-1)/s.Separation()+1) // as many steps as a pattern can keep
	switch s := s.(type) {
	case Cyclic:
		c, err := NewCyclic(steps, fit, min(s.separation, steps))
		c.silo = s.silo
		return c, err
	case MinSep:
		return NewMinSep(steps, fit, min(s.separation, steps))
	case *PatternList:
		return NewPatternList(steps, cutPatterns(s.patterns, steps))
	}
	return nil, fmt.Errorf("%w: the first steps of %s participation", ErrSchema, s.Name())
}

// cutPatterns returns what is left of every pattern before a step, each once.
func cutPatterns(patterns [][]int, steps int) [][]int {
	var cut [][]int
	for _, p := range patterns {
		end, _ := slices.BinarySearch(p, steps)
		if end > 0 {
			cut = append(cut, p[:end])
		}
	}
	slices.SortFunc(cut, slices.Compare[[]int])
	return slices.CompactFunc(cut, slices.Equal[[]int])
}

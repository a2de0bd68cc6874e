package participation

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/lists"
)

// PatternList is a schema given by its patterns, one by one.
type PatternList struct {
	steps      int
	patterns   [][]int
	holding    [][]int // patterns that hold each step, ascending
	separation int
}

// NewPatternList returns the schema over T = steps of the patterns given, which are copied and sorted. A record may
// take part in all steps of one pattern, or in some of them. The error cases are steps outside 0..T-1, a step that is
// twice in a pattern, an empty pattern, a pattern that is there twice, and steps that are in no pattern.
func NewPatternList(steps int, patterns [][]int) (*PatternList, error) {
	return listPatterns(steps, patterns, func(i int) string { return fmt.Sprintf("pattern %d", i+1) })
}

// listPatterns is NewPatternList; name says in errors where a pattern comes from.
func listPatterns(steps int, patterns [][]int, name func(i int) string) (*PatternList, error) {
	if steps < 1 {
		return nil, fmt.Errorf("%w: T = %d must be at least 1", ErrSchema, steps)
	}
	l := &PatternList{steps: steps, separation: steps, holding: make([][]int, steps)}
	for i, given := range patterns {
		if err := l.add(slices.Sorted(slices.Values(given))); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrSchema, name(i), err)
		}
	}
	if twice := firstTwice(l.patterns); twice != nil {
		return nil, fmt.Errorf("%w: the pattern %v is there twice", ErrSchema, twice)
	}
	for s := range steps {
		if len(l.holding[s]) == 0 {
			return nil, fmt.Errorf("%w: step %d of 0..%d is in no pattern: nobody would ever take part in it",
				ErrSchema, s, steps-1)
		}
	}
	return l, nil
}

func (l *PatternList) add(pattern []int) error {
	if len(pattern) == 0 {
		return fmt.Errorf("it is empty")
	}
	for i, s := range pattern {
		if s < 0 || s >= l.steps {
			return fmt.Errorf("step %d is not one of 0..%d", s, l.steps-1)
		}
		if i > 0 && s == pattern[i-1] {
			return fmt.Errorf("step %d is there twice", s)
		}
		if i > 0 {
			l.separation = min(l.separation, s-pattern[i-1])
		}
	}
	for _, s := range pattern {
		l.holding[s] = append(l.holding[s], len(l.patterns))
	}
	l.patterns = append(l.patterns, pattern)
	return nil
}

// firstTwice returns a pattern that occurs twice, or nil.
func firstTwice(patterns [][]int) []int {
	sorted := slices.SortedFunc(slices.Values(patterns), slices.Compare[[]int])
	for i := 1; i < len(sorted); i++ {
		if slices.Equal(sorted[i-1], sorted[i]) {
			return sorted[i]
		}
	}
	return nil
}

// ReadPatterns reads a schema over T = steps from text: a pattern a line, steps counted from 0 and separated by blanks
// or commas; empty lines and what follows a # are skipped. Errors name the line.
func ReadPatterns(r io.Reader, steps int) (*PatternList, error) {
	var patterns [][]int
	var from []int // lines
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<24)
	for number := 1; lines.Scan(); number++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		var pattern []int
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r,;", r) }) {
			s, err := strconv.Atoi(word)
			if err != nil {
				return nil, fmt.Errorf("%w: line %d: %.60q is not a step", ErrSchema, number, word)
			}
			pattern = append(pattern, s)
		}
		if len(pattern) > 0 {
			patterns, from = append(patterns, pattern), append(from, number)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading patterns: %w", err)
	}
	if len(patterns) == 0 {
		return nil, fmt.Errorf("%w: there is no pattern", ErrSchema)
	}
	return listPatterns(steps, patterns, func(i int) string { return fmt.Sprintf("line %d", from[i]) })
}

// Steps returns the number of steps, T.
func (l *PatternList) Steps() int { return l.steps }

// Participations returns the size of the largest pattern.
func (l *PatternList) Participations() int {
	largest := 0
	for _, p := range l.patterns {
		largest = max(largest, len(p))
	}
	return largest
}

// Separation returns the least distance between steps of one pattern.
func (l *PatternList) Separation() int { return l.separation }

// Name returns "patterns".
func (l *PatternList) Name() string { return "patterns" }

// String describes the schema in a line.
func (l *PatternList) String() string {
	return fmt.Sprintf("patterns: a record takes part in one of %d given sets of at most %d of %d steps, "+
		"at least %d apart", len(l.patterns), l.Participations(), l.steps, l.separation)
}

// Patterns returns the patterns, each ascending. They must not be changed.
func (l *PatternList) Patterns() [][]int { return l.patterns }

// Together reports whether some pattern holds both steps.
func (l *PatternList) Together(s, t int) bool {
	a, b := l.holding[s], l.holding[t]
	for s != t && len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			return true
		case a[0] < b[0]:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return false
}

// Sensitivity is SumBound of the patterns.
func (l *PatternList) Sensitivity(x mat.Symmetric) (Sensitivity, error) {
	if err := checkSize(x, l.steps); err != nil {
		return Sensitivity{}, err
	}
	return SumBound(x, l.patterns)
}

// Budgets returns a budget of singletons a pattern if the patterns are a partition, and columns of equal norms
// otherwise.
func (l *PatternList) Budgets() []Budget {
	if !isPartition(l.patterns, l.steps) {
		return equalNorms(l.steps, l.Participations())
	}
	return lists.Map(l.patterns, singletons)
}

// Disjoint takes the patterns from the largest on, each without the steps already taken.
func (l *PatternList) Disjoint() [][]int {
	bySize := slices.SortedStableFunc(slices.Values(l.patterns),
		func(p, q []int) int { return cmp.Compare(len(q), len(p)) })
	taken := make([]bool, l.steps)
	var disjoint [][]int
	for _, pattern := range bySize {
		var rest []int
		for _, s := range pattern {
			if !taken[s] {
				taken[s] = true
				rest = append(rest, s)
			}
		}
		if len(rest) > 0 {
			disjoint = append(disjoint, rest)
		}
	}
	return disjoint
}

package participation

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// ErrSchema is wrapped by every error about steps, participations and separation that do not fit together.
var ErrSchema = errors.New("participation does not fit")

// Cyclic is (k,b)-participation over T steps: a record takes part at most k times, in steps that are exactly b apart,
// as when data are visited in one order in every epoch. With T = k·b, or any T up to it, the patterns are the residue
// classes modulo b; a longer run has the windows of k neighbours in each class, which overlap. The zero value is not a
// schema; use NewCyclic.
type Cyclic struct {
	numbers
	silo bool // the schema was made by NewSilo
}

// NewCyclic returns the schema of T = steps with at most k participations b = separation steps apart. It demands k, b ≥
// 1 and that k participations fit: (k-1)·b < T, and b ≤ T.
func NewCyclic(steps, participations, separation int) (Cyclic, error) {
	n, err := newNumbers(steps, participations, separation)
	return Cyclic{numbers: n}, err
}

// NewSilo returns the schema of a silo whose whole update, clipped as one, is in every one of T = steps rounds: k = T, b = 1,
// whatever its records and its local steps are.
func NewSilo(steps int) (Cyclic, error) {
	c, err := NewCyclic(steps, steps, 1)
	c.silo = true
	return c, err
}

// Single returns the schema over the steps of another one under which a record takes part once.
func Single(s Schema) Cyclic { return Cyclic{numbers: numbers{s.Steps(), 1, s.Steps()}} }

// numbers are T, k and b of a schema.
type numbers struct{ steps, participations, separation int }

// newNumbers refuses participations that do not fit in the steps at this separation; k = 1 has no separation but T.
func newNumbers(steps, k, b int) (n numbers, err error) {
	switch {
	case steps < 1 || k < 1 || b < 1:
		return n, fmt.Errorf("%w: T = %d, k = %d, b = %d must all be at least 1", ErrSchema, steps, k, b)
	case k > steps || b > steps:
		return n, fmt.Errorf("%w: k = %d and b = %d cannot be above T = %d", ErrSchema, k, b, steps)
	case k-1 > (steps-1)/b:
		return n, fmt.Errorf("%w: k = %d participations b = %d steps apart do not fit in T = %d steps: "+
			"at most %d do", ErrSchema, k, b, steps, (steps-1)/b+1)
	case k == 1:
		b = steps
	}
	return numbers{steps, k, b}, nil
}

// Steps returns the number of steps, T.
func (n numbers) Steps() int { return n.steps }

// Participations returns k.
func (n numbers) Participations() int { return n.participations }

// Separation returns b, and T for k = 1.
func (n numbers) Separation() int { return n.separation }

// Complete returns the schema of which only some numbers are given; zero means not given. With T alone it takes k = 20,
// the setting of Bellet et al. (Section 7.2), if 20 divides T, and k = 1 if T = 1, where there is no other choice. With
// b it takes as many participations as fit. With k it takes b = T/k, which must be whole.
func Complete(steps, participations, separation int) (Cyclic, error) {
	k, b := participations, separation
	switch {
	case steps < 1:
		return Cyclic{}, fmt.Errorf("%w: T = %d must be at least 1", ErrSchema, steps)
	case k < 0 || b < 0:
		return Cyclic{}, fmt.Errorf("%w: k = %d and b = %d must be at least 1 where given", ErrSchema, k, b)
	case k > steps || b > steps:
		return Cyclic{}, fmt.Errorf("%w: k and b cannot be above T = %d", ErrSchema, steps)
	case k == 0 && b == 0 && steps == 1:
		k, b = 1, 1
	case k == 0 && b == 0 && steps%20 == 0:
		k, b = 20, steps/20
	case k == 0 && b == 0:
		return Cyclic{}, fmt.Errorf("%w: T = %d is not a multiple of 20, so say how often a record takes part: "+
			"k may be %s, or any with b", ErrSchema, steps, listDivisors(steps))
	case k == 0:
		k = (steps-1)/b + 1
	case b == 0 && steps%k != 0:
		return Cyclic{}, fmt.Errorf("%w: k = %d does not divide T = %d, so say how far apart the participations "+
			"are (b), or take k from %s", ErrSchema, k, steps, listDivisors(steps))
	case b == 0:
		b = steps / k
	}
	return NewCyclic(steps, k, b)
}

// Name returns "silo" for NewSilo's, else "single" for k = 1 and "cyclic" otherwise.
func (c Cyclic) Name() string {
	switch {
	case c.silo:
		return "silo"
	case c.participations == 1:
		return "single"
	}
	return "cyclic"
}

// String describes the schema in a line.
func (c Cyclic) String() string {
	switch {
	case c.silo:
		return fmt.Sprintf("silo: a silo's whole update in every one of %d rounds", c.steps)
	case c.participations == 1:
		return fmt.Sprintf("single: a record takes part in at most one of %d steps", c.steps)
	case c.separation == 1 && c.participations == c.steps:
		return fmt.Sprintf("cyclic: a record may take part in every one of %d steps (k = %d, b = 1)",
			c.steps, c.participations)
	}
	rest := ""
	if c.steps > c.participations*c.separation {
		rest = fmt.Sprintf(", and rests before and after (T = %d > k·b)", c.steps)
	}
	return fmt.Sprintf("cyclic: a record takes part at most k = %d times, every b = %d steps%s",
		c.participations, c.separation, rest)
}

// Patterns returns the maximal patterns, ascending. They are a partition of the steps if T ≤ k·b or k = 1.
func (c Cyclic) Patterns() [][]int {
	var patterns [][]int
	for _, class := range chop(c.steps, c.steps, c.separation) {
		for first := 0; first == 0 || first+c.participations <= len(class); first++ {
			patterns = append(patterns, class[first:min(first+c.participations, len(class))])
		}
	}
	return patterns
}

// Together reports whether the distance of the steps is one of b, 2b, ..., (k-1)b.
func (c Cyclic) Together(s, t int) bool {
	d := max(s-t, t-s)
	return d%c.separation == 0 && d/c.separation < c.participations
}

// Sensitivity is SumBound of the patterns.
func (c Cyclic) Sensitivity(x mat.Symmetric) (Sensitivity, error) {
	if err := checkSize(x, c.steps); err != nil {
		return Sensitivity{}, err
	}
	return SumBound(x, c.Patterns())
}

// Budgets returns a budget of singletons a pattern where the patterns are a partition. Otherwise diagonals are
// periodic: entries k·b steps apart are equal, so that every window of a residue class has the same sum.
func (c Cyclic) Budgets() []Budget {
	var budgets []Budget
	if IsPartition(c) {
		for _, pattern := range c.Patterns() {
			budgets = append(budgets, singletons(pattern))
		}
		return budgets
	}
	for _, class := range chop(c.steps, c.steps, c.separation) {
		groups := make([][]int, min(c.participations, len(class)))
		for i, s := range class {
			groups[i%c.participations] = append(groups[i%c.participations], s)
		}
		budgets = append(budgets, Budget{groups, 1})
	}
	return budgets
}

// Disjoint returns the patterns, or every k-th one of each residue class if they overlap.
func (c Cyclic) Disjoint() [][]int { return chop(c.steps, c.participations, c.separation) }

// listDivisors names the numbers of participations that divide a run evenly.
func listDivisors(steps int) string {
	var words []string
	for d := 1; d <= steps; d++ {
		if steps%d == 0 {
			words = append(words, strconv.Itoa(d))
		}
	}
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// checkSize is the error of an x that does not have the schema's size.
func checkSize(x mat.Symmetric, steps int) error {
	if n := x.SymmetricDim(); n != steps {
		return fmt.Errorf("%w: a strategy of %d steps under a schema of %d", ErrSchema, n, steps)
	}
	return nil
}

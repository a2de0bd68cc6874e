package participation

import (
	"errors"
	"fmt"
	"slices"
)

// ErrViolated is wrapped by errors about records that would take part in steps the schema does not allow them.
var ErrViolated = errors.New("participation violated")

// A Ledger notes in which steps every record takes part, and refuses what a schema does not allow. Different records
// may be admitted by different goroutines.
type Ledger struct {
	schema Schema
	steps  [][]int // steps of every record, ascending
}

// NewLedger returns an empty ledger for a number of records.
func NewLedger(records int, schema Schema) *Ledger { return &Ledger{schema, make([][]int, records)} }

// Admit notes that the record takes part in the step, which must be later than its earlier ones. An error, which wraps
// ErrViolated, means that it may not, and that nothing was noted.
func (l *Ledger) Admit(record, step int) error {
	if err := checkStep(l.schema, l.steps[record], step); err != nil {
		return fmt.Errorf("record %d: %w", record, err)
	}
	if l.steps[record] == nil {
		l.steps[record] = make([]int, 0, min(l.schema.Participations(), 32))
	}
	l.steps[record] = append(l.steps[record], step)
	return nil
}

// Steps returns the steps of a record so far. It shares storage with the ledger.
func (l *Ledger) Steps(record int) []int { return l.steps[record] }

// checkStep says whether a record that took part in the earlier steps, which were allowed, may take part in this one,
// too.
func checkStep(schema Schema, earlier []int, step int) error {
	switch {
	case step < 0 || step >= schema.Steps():
		return fmt.Errorf("%w: step %d is none of %d", ErrViolated, step, schema.Steps())
	case len(earlier) > 0 && step <= earlier[len(earlier)-1]:
		return fmt.Errorf("%w: step %d after step %d", ErrViolated, step, earlier[len(earlier)-1])
	case len(earlier) >= schema.Participations():
		return fmt.Errorf("%w: step %d would be participation %d of at most %d", ErrViolated, step, len(earlier)+1,
			schema.Participations())
	}
	for _, s := range earlier {
		if !schema.Together(s, step) {
			return fmt.Errorf("%w: steps %d and %d are not both allowed to a record (%v)", ErrViolated, s, step, schema)
		}
	}
	// Steps that are pairwise in a pattern, and no more than k, are in one under the cyclic and the min-sep schema: the
	// first and last are at most (k-1)b apart, or any b apart do.
	if _, pairwise := schema.(Cyclic); pairwise {
		return nil
	}
	list, listed := schema.(interface{ Patterns() [][]int })
	if listed && !slices.ContainsFunc(list.Patterns(), holds(earlier, step)) {
		return fmt.Errorf("%w: no pattern holds step %d besides steps %v", ErrViolated, step, earlier)
	}
	return nil
}

// holds reports whether a pattern has all of the steps.
func holds(earlier []int, step int) func(pattern []int) bool {
	return func(pattern []int) bool {
		for _, s := range earlier {
			if !slices.Contains(pattern, s) {
				return false
			}
		}
		return slices.Contains(pattern, step)
	}
}

// CheckCycle says whether records that are visited in the same order again and again, in batches of which one is taken
// each step, take part in what the schema allows: at most k times, as far apart as it says. The error wraps
// ErrViolated.
func CheckCycle(schema Schema, batches int) error {
	if batches < 1 {
		return fmt.Errorf("%w: %d batches", ErrViolated, batches)
	}
	if schema.Name() == "silo" {
		return fmt.Errorf("%w: batches are of records that are clipped one by one, it is of %v", ErrViolated, schema)
	}
	l := NewLedger(batches, schema)
	for t := range schema.Steps() {
		if err := checkStep(schema, l.Steps(t%batches), t); err != nil {
			return fmt.Errorf("visiting %d batches in turn for %d steps: %w", batches, schema.Steps(), err)
		}
		l.steps[t%batches] = append(l.steps[t%batches], t)
	}
	return nil
}

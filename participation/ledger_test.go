package participation

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// subsets calls f with all sets of steps.
func subsets(steps int, f func([]int)) {
	for bits := range 1 << steps {
		var set []int
		for s := range steps {
			if bits>>s&1 == 1 {
				set = append(set, s)
			}
		}
		f(set)
	}
}

// definition says whether a set of ascending steps is part of a pattern: what a record may take part in.
func definition(schema Schema, set []int) bool {
	listed, ok := schema.(interface{ Patterns() [][]int })
	if !ok {
		return belongs(schema, set)
	}
	return slices.ContainsFunc(listed.Patterns(), func(pattern []int) bool {
		return !slices.ContainsFunc(set, func(step int) bool { return !slices.Contains(pattern, step) })
	})
}

// A ledger admits exactly the sets of steps that are part of a pattern.
func TestLedgerIsTheSchema(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := drawSchema(t)
		subsets(schema.Steps(), func(set []int) {
			l := NewLedger(1, schema)
			var err error
			for _, s := range set {
				if err = l.Admit(0, s); err != nil {
					break
				}
			}
			if want := len(set) == 0 || definition(schema, set); (err == nil) != want {
				t.Fatalf("%v admits %v: %v, must be %v", schema, set, err, want)
			}
			if err != nil && (!errors.Is(err, ErrViolated) || len(l.Steps(0)) >= len(set)) {
				t.Fatalf("%v after %v", err, l.Steps(0))
			}
		})
	})
}

func TestLedgerRefuses(t *testing.T) {
	schema, err := NewCyclic(12, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	l := NewLedger(2, schema)
	for _, step := range []int{1, 5} {
		if err := l.Admit(0, step); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []int{-1, 12, 5, 1, 8, 6} {
		if err := l.Admit(0, step); !errors.Is(err, ErrViolated) {
			t.Errorf("step %d: %v", step, err)
		}
	}
	if err := l.Admit(1, 0); err != nil || !slices.Equal(l.Steps(0), []int{1, 5}) {
		t.Errorf("%v, %v", err, l.Steps(0))
	}
}

// Visiting b batches in turn is what a schema allows iff what each of their records does is.
func TestCheckCycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := drawSchema(t)
		batches := rapid.IntRange(1, schema.Steps()+2).Draw(t, "batches")
		want := true
		for i := range min(batches, schema.Steps()) {
			var set []int
			for s := i; s < schema.Steps(); s += batches {
				set = append(set, s)
			}
			want = want && definition(schema, set)
		}
		if err := CheckCycle(schema, batches); (err == nil) != want || err != nil && !errors.Is(err, ErrViolated) {
			t.Fatalf("%v with %d batches: %v, must be %v", schema, batches, err, want)
		}
	})
}

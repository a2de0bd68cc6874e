package simulate

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mafalda/participation"
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

// definition says whether a set of ascending steps is one that a record may take part in.
func definition(schema participation.Schema, set []int) bool {
	switch s := schema.(type) {
	case participation.MinSep:
		for i := 1; i < len(set); i++ {
			if set[i]-set[i-1] < s.Separation() {
				return false
			}
		}
		return len(set) <= s.Participations()
	case interface{ Patterns() [][]int }:
		return slices.ContainsFunc(s.Patterns(), func(pattern []int) bool {
			return !slices.ContainsFunc(set, func(step int) bool { return !slices.Contains(pattern, step) })
		})
	}
	panic("no such schema")
}

func drawSchema(t *rapid.T) participation.Schema {
	steps := rapid.IntRange(1, 9).Draw(t, "T")
	b := rapid.IntRange(1, steps).Draw(t, "b")
	k := rapid.IntRange(1, (steps-1)/b+1).Draw(t, "k")
	var s participation.Schema
	var err error
	switch rapid.IntRange(0, 2).Draw(t, "schema") {
	case 0:
		s, err = participation.NewCyclic(steps, k, b)
	case 1:
		s, err = participation.NewMinSep(steps, k, b)
	default:
		sets := rapid.SliceOfNDistinct(rapid.IntRange(1, 1<<steps-1), 1, min(4, 1<<steps-1), rapid.ID[int]).Draw(t, "patterns")
		rest := 1<<steps - 1
		for _, bits := range sets {
			rest &^= bits
		}
		if rest != 0 { // every step must be in some pattern
			sets = append(sets, rest)
		}
		var patterns [][]int
		for _, bits := range sets {
			var pattern []int
			for step := range steps {
				if bits>>step&1 == 1 {
					pattern = append(pattern, step)
				}
			}
			patterns = append(patterns, pattern)
		}
		s, err = participation.NewPatternList(steps, patterns)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
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
			if err != nil && (!errors.Is(err, ErrParticipation) || len(l.Steps(0)) >= len(set)) {
				t.Fatalf("%v after %v", err, l.Steps(0))
			}
		})
	})
}

func TestLedgerRefuses(t *testing.T) {
	schema, err := participation.NewCyclic(12, 3, 4)
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
		if err := l.Admit(0, step); !errors.Is(err, ErrParticipation) {
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
		if err := CheckCycle(schema, batches); (err == nil) != want || err != nil && !errors.Is(err, ErrParticipation) {
			t.Fatalf("%v with %d batches: %v, must be %v", schema, batches, err, want)
		}
	})
}

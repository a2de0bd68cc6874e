package participation

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// The schema of the first steps allows exactly the sets of these steps that the whole schema allows.
func TestLeadingIsTheSchemaCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := drawSchema(t)
		steps := rapid.IntRange(1, schema.Steps()).Draw(t, "steps")
		cut, err := Leading(schema, steps)
		if err != nil || cut.Steps() != steps {
			t.Fatalf("%v cut at %d: %v", schema, steps, err)
		}
		subsets(steps, func(set []int) {
			if len(set) > 0 && definition(schema, set) != definition(cut, set) {
				t.Fatalf("%v cut at %d is %v: they differ on %v", schema, steps, cut, set)
			}
		})
	})
}

func TestLeadingRefuses(t *testing.T) {
	schema, err := NewCyclic(12, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	for _, steps := range []int{-1, 0, 13} {
		if _, err := Leading(schema, steps); !errors.Is(err, ErrSchema) {
			t.Errorf("%d steps: %v", steps, err)
		}
	}
}

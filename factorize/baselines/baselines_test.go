package baselines

import (
	"context"
	"errors"
	"slices"
	"testing"

	"mafalda/participation"
)

// All names are known, for all steps, and no other is.
func TestNames(t *testing.T) {
	s, err := participation.NewCyclic(12, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		if c, err := New(t.Context(), name, s); err != nil || c.Steps() != 12 {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
	if c, err := New(t.Context(), "dpsgd", s); err == nil || slices.Contains(Names(), "dpsgd") {
		t.Errorf("dpsgd: %v", c)
	}
}

func TestDMFIsInterrupted(t *testing.T) {
	s, err := participation.NewCyclic(20, 1, 20)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New(ctx, DMF, s); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

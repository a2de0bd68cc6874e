package baselines

import (
	"context"
	"errors"
	"slices"
	"testing"

	"mafalda/participation"
	"mafalda/workload"
)

// All names are known, for all steps, and no other is.
func TestNames(t *testing.T) {
	s, err := participation.NewCyclic(12, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		if c, err := NewFor(t.Context(), name, workload.Spec{}, s); err != nil || c.Steps() != 12 {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
	if c, err := NewFor(t.Context(), "dpsgd", workload.Spec{}, s); err == nil || slices.Contains(Names(), "dpsgd") {
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
	if _, err := NewFor(ctx, DMF, workload.Spec{}, s); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

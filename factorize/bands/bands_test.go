package bands

import (
	"testing"

	"mafalda/participation"
)

// Noise is found once for all workloads of a schema.
func TestNoise(t *testing.T) {
	schema, err := participation.NewCyclic(24, 3, 8)
	if err != nil {
		t.Fatal(err)
	}
	n := Noise{}
	first, err := n.Multiplier(schema, 3, 2, 1e-6)
	if err != nil || len(n) != 1 {
		t.Fatal(first, err)
	}
	for at := range n {
		n[at] = 7
	}
	if again, err := n.Multiplier(schema, 3, 2, 1e-6); again != 7 || err != nil {
		t.Error(again, err)
	}
	if _, err := n.Multiplier(schema, 9, 2, 1e-6); err == nil {
		t.Error("nine of eight batches")
	}
}

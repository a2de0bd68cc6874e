package benchmarks

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/participation"
	"mafalda/workload"
)

func prefixCase(t *testing.T, computed *int) Case {
	s, err := participation.NewCyclic(24, 3, 8)
	if err != nil {
		t.Fatal(err)
	}
	return Case{Graph: "prefix", Schema: s, Gram: func(context.Context) (*mat.SymDense, error) {
		*computed++
		return workload.PrefixGram(24), nil
	}}
}

// Every strategy is measured once, none beats the bound, and what is finished is not measured again.
func TestRun(t *testing.T) {
	computed := 0
	c := prefixCase(t, &computed)
	var rows []Row
	err := Run(context.Background(), []Case{c}, nil, func(r Row) error { rows = append(rows, r); return nil })
	if err != nil || len(rows) != len(Strategies()) || computed != 1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, r := range rows {
		if r.Strategy != Strategies()[i] || r.Loss < r.LowerBound || math.Abs(r.Ratio-r.Loss/rows[0].Loss) > 1e-12 || r.Ratio < 1-1e-6 {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	byName := map[string]Row{}
	for _, r := range rows {
		byName[r.Strategy] = r
	}
	// closed forms on the prefix workload, and the orders that must hold
	if r := byName["dp-d-sgd"]; r.SensSquared != 3 || r.Loss != 3*24*25/2 || r.MemoryFloats != 0 {
		t.Errorf("%+v", r)
	}
	if math.Abs(byName["d-mf"].Ratio-1) > 1e-5 || byName["banded b"].Loss < byName["banded 2b"].Loss ||
		byName["toeplitz b"].Loss > byName["bsr b"].Loss || byName["banded-inverse 4"].Loss > byName["bisr 4"].Loss {
		t.Errorf("%+v", byName)
	}
	var again []Row
	err = Run(context.Background(), []Case{c}, rows, func(r Row) error { again = append(again, r); return nil })
	if err != nil || computed != 1 || len(again) != len(rows) || again[3] != rows[3] {
		t.Errorf("resumed: %d rows, computed %d times, %v", len(again), computed, err)
	}
	again = nil
	err = Run(context.Background(), []Case{c}, rows[:5], func(r Row) error { again = append(again, r); return nil })
	if err != nil || computed != 2 || again[0] != rows[0] || again[7].Loss != rows[7].Loss {
		t.Errorf("half resumed: %d rows, computed %d times, %v", len(again), computed, err)
	}
}

// Another file of the same name is another case.
func TestRowsOfAnotherFile(t *testing.T) {
	computed := 0
	c := prefixCase(t, &computed)
	c.SHA256 = "aa"
	var rows []Row
	keep := func(r Row) error { rows = append(rows, r); return nil }
	if err := Run(context.Background(), []Case{c}, nil, keep); err != nil {
		t.Fatal(err)
	}
	c.SHA256 = "bb"
	if err := Run(context.Background(), []Case{c}, rows, keep); err != nil || computed != 2 {
		t.Errorf("computed %d times, %v", computed, err)
	}
}

func TestRunEnds(t *testing.T) {
	computed := 0
	c := prefixCase(t, &computed)
	ctx, cancel := context.WithCancel(context.Background())
	seen := 0
	err := Run(ctx, []Case{c}, nil, func(Row) error {
		if seen++; seen == 2 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || seen != 2 {
		t.Errorf("cancelled: %d rows, %v", seen, err)
	}
	full := errors.New("disk full")
	if err := Run(context.Background(), []Case{c}, nil, func(Row) error { return full }); !errors.Is(err, full) {
		t.Errorf("a row that cannot be kept: %v", err)
	}
}
